"""No input makes the server fail: data from our own document, and what no document describes.

`make fuzz` looks for minutes; the default look is short. `tests/http/fuzz/fuzzing.py` holds the
rules that every answer is held to.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, core, event, given, settings
from hypothesis import strategies as st
from hypothesis.vendor import pretty
from schemathesis import GenerationMode
from schemathesis.checks import CheckFunction
from schemathesis.generation.hypothesis import setup as prepare
from schemathesis.specs.openapi import checks

from memtree.errors import BadRequest
from memtree.history import json_body
from memtree.history.message import Message
from memtree.text.rule_sentences import warm_up
from memtree_proxy.http.request_body import PREFIXES
from tests.http.fuzz.fuzzing import Answer, World, table
from tests.http.served import wild
from tests.http.served.running import refused_port
from tests.http.served.upstream import FakeUpstream
from tests.http.wire.documented import DOCUMENT as WRITTEN
from tests.http.wire.documented import operations, resolved, rooted

# To draw faster, schemathesis takes the printing of failing examples out of hypothesis, for every
# test of the process. Here it is put back.
prepare()
core.RepresentationPrinter = pretty.RepresentationPrinter  # type: ignore[attr-defined]

# A failing body may be large; that it is printed is worth the time.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:Generating overly large repr")]

JSON = [(b"content-type", b"application/json")]
READING = ("/context_memory", "/context_memory/tree", "/context_memory/delete")
CHAT_MEMORY = ("/chat/api/c/memory", "/v1/chat/api/c/memories/undelete")
DOCUMENTS = "/v1/rag/n/documents"
CHAT = ("/chat/completions", "/v1/chat_completions")
ON = [(b"x-polychat-memory", b"on")]
DOCUMENT = schemathesis.openapi.from_dict(WRITTEN)
FOUND: Any = [cast(Any, found).ok() for found in DOCUMENT.get_all_operations()]
ENDLESS = ("GET /chat/api/{chatId}/memories/events", "GET /memories/events")
FILES = "POST /memories/import"  # any JSON is a file, and what is none in a file is reported
OPERATIONS = {one.label: one for one in FOUND if one.label not in (*ENDLESS, FILES)}
NAMED = (
    "memoryId",
    "memory_id",
    "group_id",
    "replaces",
    "documentId",
    "kind",
)  # what may not be there
BODIES = {
    label: rooted(resolved(operation["requestBody"])["content"]["application/json"]["schema"])
    for path, method, operation in operations()
    for label in [f"{method.upper()} {path}"]
    if "requestBody" in operation and label != FILES
}
# Schemathesis takes half a second and more to draw the bodies of these.
SLOWLY_DRAWN = {
    "PATCH /chat/api/{chatId}/memories/{memoryId}", "PATCH /memories/{memory_id}",
    "DELETE /context_memory/delete", "POST /chat_completions",
    "POST /chat/api/{chatId}/memory", "POST /context_memory/tree",
    "POST /memories/batch/search",
    "POST /memories/extract", "POST /memory",
    "POST /messages/count_tokens", "POST /rag/{namespace}/documents",
}  # fmt: skip
SLOWLY_DRAWN_WRONG = {"POST /context_memory", "POST /context_memory/delete", "POST /memories"}
CHECKS: list[CheckFunction] = [
    checks.status_code_conformance, checks.content_type_conformance,
    checks.response_headers_conformance, checks.response_schema_conformance,
]  # fmt: skip

relaxed = settings(
    suppress_health_check=[
        HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much,
        HealthCheck.large_base_example,
    ]
)  # fmt: skip
half = settings(relaxed, max_examples=settings().max_examples // 2)
few = settings(relaxed, max_examples=settings().max_examples // 4)


@pytest.fixture(scope="module")
def world(
    _upstream: tuple[FakeUpstream, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    _upstream[0].reset()
    list(warm_up())  # as in a server that runs for a while
    built = World(tmp_path_factory.mktemp("fuzz"), _upstream[1] + "/up/v1", _upstream[0])
    with built.listening():
        yield built
    built.close()
    print("\n" + table(built.tried))


# -- from the document -----------------------------------------------------------------------


def prepared(case: Any) -> Any:
    """Return what schemathesis made, as the bytes of a request."""
    return requests.Request(**case.as_transport_kwargs(base_url="http://edge")).prepare()


@contextmanager
def answered(world: World, case: Any) -> Iterator[Answer]:
    """The answer, found to be one that the document tells of."""
    sent = prepared(case)
    body = sent.body.encode() if isinstance(sent.body, str) else sent.body or b""
    at = urlsplit(sent.url)
    headers = [
        (_latin(name).lower(), _latin(value))
        for name, value in sent.headers.items()
        if name.lower() not in ("content-length", "host")
    ]
    target = at.path.encode() + (b"?" + at.query.encode() if at.query else b"")
    try:
        answer = world.send(sent.method, target, body, headers)
        event(f"{answer.status} {answer.state}")
        told = {name: [value] for name, value in answer.headers.items()}
        packed = answer.headers.get("content-encoding") == "gzip"
        said = gzip.decompress(answer.body) if packed and answer.body else answer.body
        response = schemathesis.Response(answer.status, told, said, sent, 0.0, True)
        case.validate_response(response, checks=CHECKS)
        yield answer
    except BaseException as error:
        error.add_note(f"{sent.method} {target!r}\n{headers!r}\n{body!r}")
        raise


def integral(value: Any) -> Any:
    """Write integers without a fraction: for JSON Schema 1.0 is an integer, for us a wrong type."""
    if isinstance(value, dict):
        return {name: integral(one) for name, one in value.items()}
    if isinstance(value, list):
        return [integral(one) for one in value]
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 2**53
    return int(value) if whole else value


# What is wrong with a body and no schema says: of messages, of metadata, of a list of documents.
UNSAID = (
    "requests_log is off",  # these servers keep no log
    "must be a time zone",
    "metadata has a value that cannot be stored", "metadata is nested deeper",
    "is also the id of another", "must be an ISO 8601 time", "must lie in the future",
    "must lie before the year",
    "model_context_limit must be an integer of", "milliseconds since 1970",
    "category must be 1 to 64",
    "must not be empty", "are one field: send one", "is given twice",
    # of users or of agents, where one route serves both; of a chat, where `/context_memory` knows
    # more than it lists
    "is not a known query parameter", "the request has an unknown field", "is not a known field",
    "memories are made from conversations", "the schema", "uniqueOn[", "at most 50 are allowed",
    "filters must name", "at most 100 years", "holds a NUL character", "beyond 64 bits",
    "x-grants", "x-wallet-", "grant.", "shareCode", "the grant cannot be revoked",
    "only its grantor", "give memories without conversation",
    "is not the base64 of JSON", "must be the address of a wallet", "is required",
    "subjectId needs", "must be one name", "filter knows only", "differ", "exclude each other",
    "needs agentId", "belongs in filters", "is not for this route",
    "is made from its data", "of the same kind",
    "had this key within", "cursor must be the next_cursor", "names nothing: leave",
    "not a conversation of a program", "not valid JSON", "conversations[", "no messages in it",
    ": must be an", "is not in the format", "is empty", "nested too deeply", "of one line",
    "needs a model, and this server has none",
    "must have at most 32 characters",  # of a tag in its own form, which may be longer
    "this server has no secret", "This server accepts no codes", "This code",
    "a number has too many digits", "system", "input", "messages[",
    "x-memtree-keep", "pins[",
)  # fmt: skip


def _labels(labels: Iterable[str], slow: set[str]) -> list[Any]:
    """Return the labels as parameters; those among `slow` are left to `make test-all`."""
    assert slow <= set(OPERATIONS), slow - set(OPERATIONS)
    return [
        pytest.param(label, marks=pytest.mark.long) if label in slow else label for label in labels
    ]


def _latin(value: str | bytes) -> bytes:
    return value if isinstance(value, bytes) else value.encode("latin-1", "replace")


@pytest.mark.parametrize("label", _labels(OPERATIONS, SLOWLY_DRAWN))
def test_what_the_document_allows_is_answered(label: str, world: World):
    @half
    @given(OPERATIONS[label].as_strategy(generation_mode=GenerationMode.POSITIVE))
    def run(case: Any) -> None:
        if case.headers:
            case.headers.pop("content-encoding", None)  # the body is plain
        case.body, case.query = integral(case.body), integral(case.query)
        with answered(world, case) as answer:
            if answer.status == 404:
                assert answer.error["code"] == "not_found"
                place = answer.error["param"]
                assert place in (*NAMED, "address") or place.startswith("memories[")
            elif answer.status >= 400:  # what no schema can say
                error = answer.error
                # The Messages API names neither a code nor a field.
                code, param = error.get("code"), error.get("param")
                assert code in (
                    "context_length_exceeded",
                    "schema_violation",
                    "model_needed",
                ) or any(said in f"{param}: {error['message']}" for said in UNSAID), error

    run()


@pytest.mark.parametrize("label", _labels(BODIES, SLOWLY_DRAWN | SLOWLY_DRAWN_WRONG))
def test_what_the_document_does_not_allow_is_refused(label: str, world: World):
    @half
    @given(OPERATIONS[label].as_strategy(generation_mode=GenerationMode.NEGATIVE))
    def run(case: Any) -> None:
        with answered(world, case) as answer:
            if answer.status < 300 and not answer.relayed:  # then the body is sound after all
                body = json.loads(prepared(case).body or b"")
                assert [error.message for error in BODIES[label].iter_errors(body)] == []

    run()


# -- bodies ----------------------------------------------------------------------------------


def relays_what_came(answer: Answer, posted: bytes) -> None:
    """On a chat route: our own fields are gone, everything else is there as it came; a history
    that was not understood as well."""
    if answer.relayed is None:
        assert answer.status >= 400
        return
    body = answer.relayed.body
    try:
        split = json_body.split(posted)
    except BadRequest:
        assert body == posted
        return
    left = json_body.split(body)
    assert not json_body.OWN_FIELDS & set(left.spans)
    assert list(left.spans) == [name for name in split.spans if name not in json_body.OWN_FIELDS]
    # Another case may have saved a memory and switched injection on: it is added to what came.
    injected = "x-memtree-memories" in answer.headers
    for name in left.spans:
        if name not in ("model", "messages") or (answer.state in ("", "off") and not injected):
            assert left.fragment(name) == split.fragment(name) or name == "model"
    if injected and answer.state not in ("packed", "provisional"):
        assert not_of_the_system(left) == not_of_the_system(split)
    elif answer.state not in ("packed", "provisional"):
        assert left.fragment("messages") == split.fragment("messages")
    else:
        assert all(Message(message.raw).role for message in left.messages())


def not_of_the_system(body: json_body.Body) -> list[bytes]:
    """Return the messages but those of the system, where saved memories are put."""
    return [message.raw for message in body.messages() if not is_of_the_system(message.raw)]


def is_of_the_system(raw: bytes) -> bool:
    try:
        message = json.loads(raw)
    except (ValueError, RecursionError):
        return False
    return isinstance(message, dict) and message.get("role") in ("system", "developer")


@pytest.mark.parametrize(
    "path",
    [
        READING[0],
        CHAT[0],
        *(pytest.param(path, marks=pytest.mark.long) for path in READING[1:]),
        *(pytest.param(path, marks=pytest.mark.long) for path in (*CHAT_MEMORY, DOCUMENTS)),
    ],
)
def test_the_worst_bodies(path: str, world: World):
    for name, posted in wild.NASTY.items():
        for headers in (ON, []) if path in CHAT else ([],):
            try:
                answer = world.post(path, posted, [*JSON, *headers])
                if path in CHAT:
                    relays_what_came(answer, posted)
            except BaseException as error:
                error.add_note(f"the body {name!r}, headers {headers}")
                raise


@pytest.mark.parametrize("path", [*READING, *CHAT_MEMORY, DOCUMENTS, *CHAT])
def test_any_body(path: str, world: World):
    @relaxed
    @given(wild.bodies(wild.SMALL), st.booleans())
    def run(posted: bytes, on: bool) -> None:
        answer = world.post(path, posted, [*JSON, *(ON if on else [])])
        event(f"{answer.status} {answer.state}")
        if path in CHAT:
            relays_what_came(answer, posted)

    run()


@pytest.mark.parametrize("path", [*READING, CHAT[0]])
def test_changed_histories_of_a_size_that_is_folded(path: str, world: World):
    @few
    @given(wild.mutations(wild.LARGE).map(wild.dumped))
    def run(posted: bytes) -> None:
        answer = world.post(path, posted, [*JSON, *ON])
        event(f"{answer.status} {answer.state}")
        if path in CHAT:
            relays_what_came(answer, posted)
        elif answer.status == 200 and path == "/context_memory":
            # What was answered can be posted again.
            shown = json.loads(answer.body)
            again = world.post(path, wild.dumped({"messages": shown["messages"]}), JSON)
            assert again.status == 200, again

    run()


@pytest.mark.parametrize("path", [*READING, CHAT[0]])
@pytest.mark.parametrize("name", wild.ENCODED)
def test_encodings_that_lie(path: str, name: str, world: World):
    encoding, posted = wild.ENCODED[name]
    answer = world.post(path, posted, [*JSON, *ON, (b"content-encoding", encoding)])
    if path in CHAT and answer.state == "degraded:encoded-body":
        assert answer.relayed
        assert answer.relayed.body == posted


# -- everything around the body --------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [*READING, *CHAT_MEMORY, *CHAT, "/context_memory/status", "/metrics", "/models",
     "/chat/api/c/memories", "/chat/api/c/memories/x"],
)  # fmt: skip
def test_any_headers(path: str, world: World):
    got = ("/context_memory/status", "/metrics", "/models", "/chat/api/c/memories")
    method = "GET" if path.startswith(got) and path not in CHAT_MEMORY else "POST"
    sound = wild.dumped(wild.SMALL[0]) if method == "POST" else b""

    @relaxed
    @given(wild.headers)
    def run(headers: list[tuple[bytes, bytes]]) -> None:
        answer = world.send(method, path.encode(), sound, headers)
        event(f"{answer.status} {answer.state}")

    run()


@pytest.mark.parametrize("name", wild.OWN)
def test_each_header_of_ours_with_each_strange_value(name: bytes, world: World):
    sound = wild.dumped(wild.SMALL[0])
    for value in wild.HEADER_VALUES:
        for headers in ([(name, value)], [(name, value), (name, b"on")]):
            for path in ("/context_memory", "/chat/completions"):
                answer = world.post(path, sound, [*headers, *ON])
                if answer.status >= 400:
                    assert answer.error["param"] == name.decode()


def test_any_path_and_method(world: World):
    @settings(relaxed, max_examples=4 * settings().max_examples)
    @given(wild.methods, wild.paths, wild.queries, st.sampled_from([b"", b"{}", b"\xff"]))
    def run(method: str, path: str, query: str, body: bytes) -> None:
        target = (path + query).encode("latin-1")
        answer = world.send(method, target, body)
        event(f"{answer.status} {'relayed' if answer.relayed else 'ours'}")
        if answer.relayed and answer.state == "":
            below = next(p for p in PREFIXES if path == p or path.startswith(p + "/"))
            place = path.removeprefix(below)
            if place == "/chat_completions":  # another spelling, which no upstream knows
                place = "/chat/completions"
            assert answer.relayed.path == b"/up/v1" + place.encode()
            assert answer.relayed.query == query.removeprefix("?").encode()
            assert answer.relayed.method == method
            assert answer.relayed.body == body

    run()


@pytest.mark.parametrize(
    ("target", "status"),
    [(b"/%0d%0a/v1", 200), (b"/models/a%0Ab", 200), (b"*", 404), (b"/context_memory/a%0ab", 404),
     (b"/context_memory%2fdelete", 400), (b"/context_memory/delete%2f", 400), (b"//", 200)],
)  # fmt: skip
def test_targets_that_are_hard_to_read(target: bytes, status: int, world: World):
    answer = world.send("POST", target, b"{}")
    assert (answer.status, bool(answer.relayed)) == (status, status == 200), answer


# -- without an upstream ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("base", "status", "code"),
    [(None, 503, "no_upstream"), ("http://127.0.0.1:{port}/v1", 502, "upstream_unreachable")],
)
def test_without_an_upstream_every_answer_is_an_error_of_ours(
    base: str | None, status: int, code: str, tmp_path: Path
):
    alone = World(tmp_path, base and base.format(port=refused_port()), None)

    @few
    @given(wild.bodies(wild.SMALL), st.sampled_from([*CHAT, "/models", "/v1/files"]))
    def run(posted: bytes, path: str) -> None:
        answer = alone.post(path, posted, JSON)
        assert answer.status in (status, 400, 413), answer
        assert answer.error["code"] in (code, "invalid_request", "request_too_large")

    try:
        with alone.listening():
            run()
    finally:
        alone.close()
