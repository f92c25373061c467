"""Whatever bytes come in on a connection, the server answers sense or hangs up, and lives on."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import event, example, given, settings
from hypothesis import strategies as st

from memtree_proxy.server.app import create_app
from tests.http.fuzz.fuzzing import Lines
from tests.http.served import wild
from tests.http.served.fakes import real_memory, services
from tests.http.served.running import running
from tests.http.served.sockets import connect, rest
from tests.http.served.upstream import FakeUpstream

pytestmark = pytest.mark.slow

LOGGERS = ("memtree", "asyncio", "uvicorn.error")
HEALTH = b"GET /health HTTP/1.1\r\nhost: edge\r\nconnection: close\r\n\r\n"
SILENCE = 0.04  # seconds; what was not answered by then shows in the log alone
STATUS = re.compile(rb"HTTP/1\.1 (\d{3}) ")
BODY = b'{"messages":[{"role":"user","content":"a"}]}'

Draw = Callable[[Any], Any]


@pytest.fixture(scope="module")
def address(_upstream: tuple[FakeUpstream, str]) -> Iterator[str]:
    _upstream[0].reset()
    built = services(_upstream[1] + "/up/v1", real_memory())
    with running(create_app(built), built.upstreams, built.settings) as found:
        yield found


@pytest.fixture(scope="module")
def lines() -> Iterator[Lines]:
    kept = Lines()
    kept.setLevel(logging.ERROR)
    for name in LOGGERS:
        logging.getLogger(name).addHandler(kept)
    yield kept
    for name in LOGGERS:
        logging.getLogger(name).removeHandler(kept)


def say(address: str, raw: bytes, seconds: float) -> bytes:
    """Return what comes back until the server closes, or is silent for so long."""
    with connect(address) as connection:
        try:
            connection.sendall(raw)
        except ConnectionError:  # refused before all was sent
            pass
        return rest(connection, seconds)[0]


CRLF = b"\r\n"
ENDS = st.sampled_from([b"\n", b"\r", b"", b"\r\n\r\n", b"\x00\r\n", b"\r\r\n", b" \r\n"])
PATHS = st.sampled_from([b"/v1/chat/completions", b"/context_memory", b"/health", b"/v1/models"])
TARGETS = st.one_of(
    st.tuples(wild.paths, wild.queries).map(lambda pair: "".join(pair).encode("latin-1")),
    st.sampled_from(
        [b"*", b"", b"http://edge", b"http://edge/v1/models", b"//edge//", b"edge:80", b"/a b",
         b"/\xff\xfe", "/é".encode(), b"/\x00", b"/#f", b"http://[::1", b"/?\xff", b"\\", b"?a",
         b"http://a:99999/", b"/" + b"a" * 70_000, b"/../../x", b"/v1/../metrics"]
    ),
)  # fmt: skip
VERBS = st.sampled_from(
    [b"HEAD", b"OPTIONS", b"DELETE", b"get", b"CONNECT", b"PRI", b"FOO", b"", b"GET GET",
     b"\x16\x03\x01", b"QUERY", b"M-SEARCH"]
)  # fmt: skip
VERSIONS = st.sampled_from([b"HTTP/1.0", b"HTTP/2.0", b"HTTP/9.9", b"HTTP/1.", b"", b"http/1.1"])
FIELDS = st.one_of(
    st.tuples(
        st.sampled_from([*wild.HEADER_NAMES, b"", b" x", b"x y", b"\xff", b"x\x00", b":"]),
        st.sampled_from([b": ", b":", b" : ", b"", b"::"]),
        st.one_of(st.sampled_from(wild.HEADER_VALUES), st.binary(max_size=12)),
    ).map(b"".join),
    st.sampled_from(
        [b"content-length: 5", b"content-length: -1", b"content-length: 99999999999999999999",
         b"content-length: 1, 2", b"content-length: 0x5", b"content-length: +5",
         b"transfer-encoding: chunked", b"transfer-encoding: gzip, chunked",
         b"transfer-encoding: identity", b"transfer-encoding: chunked, chunked", b" folded: x",
         b"expect: 100-continue", b"expect: 200-maybe", b"connection: close, upgrade",
         b"upgrade: h2c", b"trailer: x"]
    ),
)  # fmt: skip
CHUNKED = b"transfer-encoding: chunked"
CONTENTS = st.one_of(
    st.sampled_from(
        [b"0\r\n\r\n", b"zz\r\n\r\n", b"FFFFFFFFFFFFFFFFF\r\n", b"5\r\nabc", b"-1\r\n",
         b"5;a=b\r\nabcde\r\n0\r\nx: y\r\n\r\n", b"2c\r\n" + BODY + b"\r\n0\r\n\r\n"]
    ),
    st.binary(max_size=30),
)  # fmt: skip


@st.composite
def requests(draw: Draw) -> bytes:
    """A request that is right but for one or two of its parts."""
    odd = draw(st.sets(st.sampled_from(["verb", "target", "version", "end", "field", "body"]),
                       max_size=2))  # fmt: skip
    verb = draw(VERBS if "verb" in odd else st.sampled_from([b"GET", b"POST"]))
    target = draw(TARGETS if "target" in odd else PATHS)
    version = draw(VERSIONS) if "version" in odd else b"HTTP/1.1"
    heads = [b" ".join((verb, target, version)), b"host: edge"]
    heads += draw(st.lists(FIELDS, min_size=1, max_size=3)) if "field" in odd else []
    body = draw(CONTENTS) if "body" in odd else BODY
    length = b"content-length: %d" % len(body)
    heads.append(CHUNKED if "body" in odd and draw(st.booleans()) else length)
    if "end" in odd:
        at = draw(st.integers(0, len(heads) - 1))
        heads[at : at + 2] = [draw(ENDS).join(heads[at : at + 2])]
    return CRLF.join(heads) + CRLF * 2 + body


@settings(max_examples=2 * settings().max_examples)
@given(
    raw=st.lists(st.one_of(*[requests()] * 5, st.binary(max_size=60)), min_size=1, max_size=3).map(
        b"".join
    )
)
@example(raw=b"GET http://edge HTTP/1.1\r\nhost: edge\r\n\r\n")
@example(raw=b"OPTIONS * HTTP/1.1\r\nhost: edge\r\n\r\n")
@example(raw=b"GET /\xff HTTP/1.1\r\nhost: edge\r\n\r\n")
@example(raw=b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
@example(raw=b"GET /health HTTP/1.1\r\n\r\n")
def test_any_bytes_on_a_connection(raw: bytes, address: str, lines: Lines):
    lines.records.clear()
    said = say(address, raw, SILENCE)
    statuses = [int(status) for status in STATUS.findall(said)]
    event(" ".join(map(str, statuses[:2])) or "nothing")
    assert not said or said.startswith(b"HTTP/1.1 "), said[:200]
    assert all(status < 500 for status in statuses), said[:2_000]
    if statuses and statuses[0] >= 400 and not raw.startswith(b"HEAD"):
        assert b'{"error":{"message":"' in said, said[:2_000]
    assert not lines.records, [record.getMessage() for record in lines.records]
    TRIED.update(statuses or [0])
    assert say(address, HEALTH, 10.0).startswith(b"HTTP/1.1 200 ")


TRIED: Counter[int] = Counter()


@pytest.fixture(scope="module", autouse=True)
def _count() -> Iterator[None]:
    yield
    print(f"\nrequests on the wire {TRIED.total()}: {dict(sorted(TRIED.items()))}")
