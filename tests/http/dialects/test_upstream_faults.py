"""Check what the upstream of each API does wrong: the client gets just that, with memory as
without."""

from __future__ import annotations

import gzip
import json

import httpx
import pytest

from tests.http.chat.test_streaming import connection
from tests.http.dialects.vendors import SIDES, VENDORS, Side
from tests.http.served.running import PATIENCE, wait_for
from tests.made.scripted import Call, Say
from tests.wire.servers.vendor import CutStream, Late, Silence

# With memory these are ours to mend: see the tests of overflow and of thinking.
MENDED = {"prompt too long", "bound thinking"}
WORK = Say("Ünïcode 🎉 and words.", (Call("Read", {"path": "naïve"}),), reasoning="Let me think.")
FAULTS = [
    (vendor, name, headers)
    for vendor in VENDORS
    for name in vendor.faults
    for headers in SIDES
    if not (headers and name in MENDED)
]
BROKEN = [(vendor, name) for vendor in VENDORS for name in vendor.broken]
both = pytest.mark.parametrize("headers", SIDES, ids=["off", "on"])


@pytest.mark.parametrize(("_side", "name", "headers"), FAULTS, indirect=["_side"], ids=str)
def test_an_error_comes_through_byte_for_byte(side: Side, name: str, headers: dict[str, str]):
    fault = side.vendor.faults[name]
    side.server.steps.append(fault)
    answer = side.post(side.vendor.talk(), **headers)
    assert (answer.status_code, answer.content) == (fault.status, fault.body)
    assert set(fault.headers) <= set(answer.headers.raw)
    assert len(side.server.seen) == 1
    assert side.server.invalid == []


@both
@pytest.mark.parametrize("stream", [True, False])
def test_an_answer_comes_through_byte_for_byte(side: Side, headers: dict[str, str], stream: bool):
    """Its pings, its usage and its headers, too."""
    side.server.steps.append(WORK)
    answer = side.post(side.vendor.talk(stream=stream), **headers)
    assert answer.status_code == 200
    assert answer.content == side.server.last.answered
    theirs = dict(side.server.own_headers(side.server.last))
    assert {name: answer.headers[name.decode()].encode() for name in theirs} == theirs
    assert side.server.invalid == []


def test_with_memory_off_the_request_goes_as_it_came(side: Side):
    answer = side.post(side.vendor.talk(40), accept="application/json", x_own="1")
    seen = side.server.last
    assert seen.raw == answer.request.content
    assert seen.path == "/up" + side.vendor.path
    sent = {**side.vendor.headers, "x-own": "1", "accept": "application/json"}
    for name, value in sent.items():
        assert seen.header(name) == value
    assert answer.headers["x-memtree-state"] == "off"


@both
@pytest.mark.parametrize(("_side", "name"), BROKEN, indirect=["_side"], ids=str)
def test_an_error_in_a_stream_comes_through(side: Side, name: str, headers: dict[str, str]):
    fault = side.vendor.broken[name]
    side.server.steps.append(fault)
    answer = side.post(side.vendor.talk(), **headers)
    assert (answer.status_code, answer.content) == (200, side.server.last.answered)
    assert answer.content.endswith(fault.event)


@both
@pytest.mark.parametrize("pieces", [1, 2, 7])
def test_a_cut_stream_is_cut_and_no_end_is_made_up(
    side: Side, pieces: int, headers: dict[str, str]
):
    side.server.steps.append(CutStream(pieces))
    got = b""
    sent = {**side.vendor.headers, **headers}
    url, body = side.address + side.vendor.path, side.vendor.talk()
    with (  # noqa: PT012
        pytest.raises(httpx.RemoteProtocolError),
        httpx.stream("POST", url, json=body, headers=sent, timeout=PATIENCE) as answer,
    ):
        for piece in answer.iter_raw():
            got += piece
    assert got == side.server.last.answered
    assert got.count(b"event: ") == pieces


@both
@pytest.mark.parametrize("pieces", [0, 2])
def test_a_silent_upstream_is_left_when_the_client_leaves(
    side: Side, pieces: int, headers: dict[str, str]
):
    side.server.steps.append(Silence(pieces))
    sent = {**side.vendor.headers, "content-type": "application/json", **headers}
    body = json.dumps(side.vendor.talk()).encode()
    with connection(side.address, body, side.vendor.path, sent):
        wait_for(lambda: side.server.seen)
    assert side.server.gone.wait(PATIENCE)


@both
@pytest.mark.parametrize("in_stream", [False, True])
def test_a_late_answer_is_whole(side: Side, in_stream: bool, headers: dict[str, str]):
    side.server.steps.append(Late(0.3, WORK, in_stream=in_stream))
    answer = side.post(side.vendor.talk(), **headers)
    assert (answer.status_code, answer.content) == (200, side.server.last.answered)


@both
@pytest.mark.parametrize("stream", [True, False])
def test_gzip_comes_through_as_it_is(side: Side, stream: bool, headers: dict[str, str]):
    side.server.encode = True
    sent = {**side.vendor.headers, **headers, "accept-encoding": "gzip"}
    body = side.vendor.talk(stream=stream)
    with httpx.stream(
        "POST", side.address + side.vendor.path, json=body, headers=sent, timeout=PATIENCE
    ) as answer:
        raw = b"".join(answer.iter_raw())
    assert answer.headers["content-encoding"] == "gzip"
    assert raw == side.server.last.answered
    assert b"answer" in gzip.decompress(raw)
