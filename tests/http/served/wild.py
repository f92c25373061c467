"""Inputs that nobody should send: hypothesis strategies, and a list of the worst by hand."""

from __future__ import annotations

import copy
import gzip
import json
import zlib
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from tests.http.fuzz.fuzzing import SECRET, Headers
from tests.http.wire.documented import examples
from tests.programs.sessions import chat, coding

Draw = Callable[[Any], Any]

TEXTS = ("", "x", " ", "\x00", "\ud800", "\udfff\ud800", "é" * 3, "\ufeff", "￿", "9" * 400, "-1",
         "1e3", "null", "on", "stable", "user", "tool", "assistant", "system", "text",
         "image_url", "<context_memory>", "<recalled_context>\n</recalled_context>",
         "<system-reminder>", "\n" * 50, "a" * 5_000, SECRET)  # fmt: skip
NUMBERS = (0, 1, -1, 2**31, 2**63, 2**64, -(2**63) - 1, 10**40, 0.0, -0.0, 1.5, 1e308, -1e-320,
           float("inf"), float("nan"))  # fmt: skip
scalars = st.one_of(
    st.sampled_from([None, True, False]), st.sampled_from(NUMBERS), st.sampled_from(TEXTS),
    st.integers(), st.text(max_size=20),
)  # fmt: skip
KEYS = st.one_of(
    st.sampled_from(
        ["role", "content", "name", "tool_calls", "tool_call_id", "function_call", "function",
         "arguments", "id", "type", "text", "image_url", "url", "detail", "refusal", "custom",
         "input", "cache_control", "reasoning_content", "reasoning_details", "messages", "model",
         "target_tokens", "mode", "memory", "tools", ""]
    ),
    st.text(max_size=5),
)  # fmt: skip
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(KEYS, inner, max_size=4)),
    max_leaves=12,
)

FOLDED = [
    {"role": "system", "content": "be brief"},
    {"role": "user", "content": f"The word is {SECRET}."},
    *chat(110, words=110)[1:],
]
CODING = coding(12_000)
LEGACY = [
    {"role": "user", "content": f"say it {SECRET}"},
    {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
    {"role": "function", "name": "f", "content": "1"},
    {"role": "user", "content": [
        {"type": "text", "text": "look", "cache_control": {"type": "ephemeral"}},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
        {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}},
        {"type": "file", "file": {"file_id": "file-1"}},
    ]},
    {"role": "assistant", "content": "a", "refusal": None, "reasoning_content": "b",
     "reasoning_details": [{"type": "reasoning.text", "text": "c"}]},
    {"role": "user", "content": "go on"},
]  # fmt: skip
SMALL: list[dict[str, Any]] = [
    *examples("Context"),
    *examples("Chat"),
    {"messages": LEGACY, "model": "gpt-4o:memory-9"},
]
LARGE: list[dict[str, Any]] = [
    {"messages": FOLDED, "target_tokens": 2_000, "mode": "stable"},
    {"messages": CODING, "target_tokens": "3000", "mode": "fresh"},
]


def _places(value: Any) -> list[tuple[Any, Any]]:
    """(container, key) of every node below the root."""
    found: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        one = waiting.pop()
        keys = list(one) if isinstance(one, dict) else range(len(one))
        for key in keys:
            found.append((one, key))
            if isinstance(one[key], (dict, list)):
                waiting.append(one[key])
    return found


def _mutate(draw: Draw, root: dict[str, Any]) -> None:
    """Change one node in place."""
    places = _places(root)
    if not places:
        root["messages"] = draw(values)
        return
    container, key = places[draw(st.integers(0, len(places) - 1))]
    kind = draw(st.sampled_from(["drop", "swap", "double", "retype", "wrap", "add", "rename"]))
    if kind == "drop":
        del container[key]
    elif kind == "swap":
        other = draw(st.sampled_from(places))
        container[key], other[0][other[1]] = (
            copy.deepcopy(other[0][other[1]]),
            copy.deepcopy(container[key]),
        )
    elif kind == "double" and isinstance(container, list):
        container.insert(key, copy.deepcopy(container[key]))
    elif kind == "wrap":
        container[key] = [container[key]] if draw(st.booleans()) else {"text": container[key]}
    elif kind == "add" and isinstance(container, dict):
        container[draw(KEYS)] = draw(values)
    elif kind == "rename" and isinstance(container, dict):
        container[draw(KEYS)] = container.pop(key)
    else:
        container[key] = draw(values)


@st.composite
def mutations(draw: Draw, bases: list[dict[str, Any]]) -> dict[str, Any]:
    """A valid body with one to four nodes dropped, swapped, doubled, retyped, wrapped or added."""
    body = copy.deepcopy(draw(st.sampled_from(bases)))
    for _ in range(draw(st.integers(1, 4))):
        _mutate(draw, body)
    return body


def dumped(value: Any, ascii_: bool = True) -> bytes:
    """JSON as Python writes it: lone surrogates as escapes or as bytes that are no UTF-8, and
    `NaN` and `Infinity`, which are no JSON."""
    return json.dumps(value, ensure_ascii=ascii_).encode("utf-8", "surrogatepass")


@st.composite
def mangled(draw: Draw, bases: list[dict[str, Any]]) -> bytes:
    """The bytes of a valid body with pieces cut, doubled, or overwritten."""
    raw = dumped(draw(st.sampled_from(bases)), draw(st.booleans()))
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(raw)))
        end = min(len(raw), start + draw(st.integers(0, 12)))
        piece = draw(st.one_of(st.binary(max_size=4), st.just(raw[start:end] * 2)))
        raw = raw[:start] + piece + raw[end:]
    return raw


def bodies(bases: list[dict[str, Any]]) -> Any:
    return st.one_of(
        mutations(bases).map(dumped),
        mutations(bases).map(lambda body: dumped(body, False)),
        mangled(bases),
        st.dictionaries(KEYS, values, max_size=5).map(dumped),
        values.map(dumped),
        st.binary(max_size=40),
        st.sampled_from(list(NASTY.values())),
    )


def _one(message: bytes) -> bytes:
    return b'{"model":"m","messages":[' + message + b"]}"


def _with(field: bytes) -> bytes:
    return b'{"model":"m","messages":[{"role":"user","content":"a"}],' + field + b"}"


DEEP = 100_000
NASTY: dict[str, bytes] = {
    "empty": b"",
    "huge in a name": _one(b'{"role":"user","content":"a","name":18446744073709551616}'),
    "huge in a list of names": _one(b'{"role":"user","content":"a","name":[-9223372036854775809]}'),
    "space": b" \n\t ",
    "bom": b'\xef\xbb\xbf{"messages":[{"role":"user","content":"a"}]}',
    "utf-16": '{"messages":[{"role":"user","content":"a"}]}'.encode("utf-16"),
    "null byte": b"\x00",
    "half a body": b'{"messages":[{"role":"user","con',
    "two bodies": b'{"messages":[]}{"messages":[]}',
    "comment": b'{"messages":[]/* */}',
    "trailing comma": b'{"messages":[{"role":"user","content":"a"},]}',
    "single quotes": b"{'messages':[]}",
    "form": b"messages=1&model=m",
    "null": b"null",
    "number": b"1e999",
    "string": b'"messages"',
    "brackets": b"[" * DEEP,
    "closed brackets": b"[" * DEEP + b"]" * DEEP,
    "braces": b'{"a":' * DEEP + b"1" + b"}" * DEEP,
    "deep messages": b'{"messages":' + b"[" * DEEP + b"]" * DEEP + b"}",
    "deep message": _one(b"[" * DEEP + b"]" * DEEP),
    "deep content": _one(b'{"role":"user","content":' + b"[" * DEEP + b"]" * DEEP + b"}"),
    "deep part": _one(
        b'{"role":"user","content":[{"type":"x","x":' + b'{"a":' * DEEP + b"1" + b"}" * DEEP
        + b"}]}"
    ),
    "deep below the limit": _one(
        b'{"role":"user","content":[{"type":"x","x":' + b"[" * 900 + b"]" * 900 + b"}]}"
    ),
    "deep reasoning": _one(
        b'{"role":"assistant","reasoning_details":' + b"[" * 900 + b"]" * 900 + b"}"
    ),
    "deep tools": _with(b'"tools":' + b"[" * DEEP + b"]" * DEEP),
    "deep unknown": _with(b'"x":' + b"[" * DEEP + b"]" * DEEP),
    "deep key": _with(b'"memory":' + b"[" * DEEP + b"]" * DEEP),
    "deep model": _with(b'"stream":' + b"[" * DEEP + b"]" * DEEP),
    "twice": b'{"messages":[],"messages":[{"role":"user","content":"a"}]}',
    "twice escaped": b'{"messages":[],"\\u006dessages":[{"role":"user","content":"a"}]}',
    "twice unknown": _with(b'"x":1,"x":2'),
    "twice in a message": _one(b'{"role":"user","role":"tool","content":"a"}'),
    "many keys": b"{" + b",".join(b'"k%d":1' % i for i in range(20_000)) + b"}",
    "long key": _with(b'"' + b"k" * 100_000 + b'":1,"' + b"k" * 100_000 + b'":1'),
    "huge exponent": _with(b'"target_tokens":1e999'),
    "huge integer": _with(b'"target_tokens":1' + b"0" * 5_000),
    "huge negative": _with(b'"expiration_days":-' + b"9" * 5_000),
    "huge string": _with(b'"model_context_limit":"' + b"9" * 5_000 + b'"'),
    "huge reserve": _with(b'"max_tokens":1' + b"0" * 5_000 + b',"memory":true'),
    "float reserve": _with(b'"max_tokens":1e400,"memory":true'),
    "nan": _with(b'"target_tokens":NaN'),
    "infinity": _with(b'"target_tokens":-Infinity'),
    "huge in a message": _one(b'{"role":"user","content":"a","x":1' + b"0" * 5_000 + b"}"),
    "huge in a part": _one(
        b'{"role":"user","content":[{"type":"image_url","image_url":{"url":"a","x":1e999}}]}'
    ),
    "huge in reasoning": _one(
        b'{"role":"assistant","content":"a","reasoning_details":[1' + b"0" * 5_000 + b"]}"
    ),
    "nan in a message": _one(b'{"role":"user","content":"a","x":NaN}'),
    "surrogate": _one(b'{"role":"user","content":"\\ud800"}'),
    "surrogate in a key": _one(b'{"role":"user","content":"a","\\ud800":1}'),
    "surrogate in a name": _one(b'{"role":"user","name":"\\udfff","content":"a"}'),
    "surrogate in a call": _one(
        b'{"role":"assistant","tool_calls":[{"id":"\\ud800","function":{"name":"\\ud800",'
        b'"arguments":"\\ud800"}}]}'
    ),
    "surrogate in a part": _one(
        b'{"role":"user","content":[{"type":"\\ud800","x":"\\ud800"},{"type":"text",'
        b'"text":"\\ud800"}]}'
    ),
    "surrogate in a query": _with(b'"query":"\\ud800"'),
    "surrogate in a model": b'{"model":"\\ud800","messages":[{"role":"user","content":"a"}]}',
    "surrogate as bytes": _one(b'{"role":"user","content":"\xed\xa0\x80"}'),
    "no utf-8": _one(b'{"role":"user","content":"\xff"}'),
    "no utf-8 in a key": _one(b'{"role":"user","content":"a","\xff":1}'),
    "no utf-8 in a field": b'{"\xff":1,"messages":[{"role":"user","content":"a"}]}',
    "no utf-8 in tools": _with(b'"tools":["\xff"]'),
    "overlong": _one(b'{"role":"user","content":"\xc0\xaf"}'),
    "control character": _one(b'{"role":"user","content":"\x01"}'),
    "null character": _one(b'{"role":"user","content":"\\u0000"}'),
    "bad escape": _one(b'{"role":"user","content":"\\x41"}'),
    "many messages": b'{"messages":['
    + b",".join([b'{"role":"user","content":""}'] * 10_000)
    + b"]}",
    "many bad messages": b'{"messages":[' + b",".join([b"1"] * 200_001) + b"]}",
    "many parts": _one(
        b'{"role":"user","content":[' + b",".join([b'{"type":"text","text":""}'] * 20_000) + b"]}"
    ),
    "many calls": _one(
        b'{"role":"assistant","tool_calls":['
        + b",".join([b'{"id":"1","function":{"name":"f"}}'] * 5_000)
        + b"]}"
    ),
    "only system": _one(b'{"role":"system","content":"a"}'),
    "only assistant": _one(b'{"role":"assistant","content":null}'),
    "no content": _one(b'{"role":"user"}'),
    "orphan": _one(b'{"role":"tool","tool_call_id":"1","content":"a"}'),
    "long system": _one(b'{"role":"system","content":"' + b"word " * 200_000 + b'"}'),
    "one long word": _one(b'{"role":"user","content":"' + b"a" * 1_000_000 + b'"}'),
    "only volatile": _one(
        b'{"role":"user","content":"<system-reminder>' + b"a " * 9_000 + b'</system-reminder>"}'
    ),
    "open tags": _one(b'{"role":"user","content":"' + b"<system-reminder>" * 20_000 + b'"}'),
    "memory of its own": _one(
        b'{"role":"user","content":"<context_memory>x</context_memory>"},'
        b'{"role":"user","content":"<recalled_context>"}'
    ),
    "all false": b'{"all":false}',
    "all twice": b'{"all":true,"tenant":true,"address":null}',
    "two targets": b'{"all":true,"address":"' + b"00" * 32 + b'"}',
    "unknown address": b'{"address":"' + b"00" * 32 + b'"}',
    "large": b'{"messages":[{"role":"user","content":"' + b"a" * 4_000_000 + b'"}]}',
}  # fmt: skip

HEADER_VALUES = (
    b"", b" ", b"on", b"off", b"true", b"ON ", b"stable", b"fresh", b"0", b"-5", b"90", b"1e999",
    b"nan", b"inf", b"-inf", b"9" * 5_000, b"0x10", b"1.5", b",", b"on,off", b"\xff\xfe", b"\x80",
    "٣".encode(), "é".encode(), b"\t", b'"', b"a" * 10_000, b"gzip", b"br", b"gzip, gzip",
    b"identity", b"gzip" + b",gzip" * 50, b"Bearer", b"Bearer ", b"Bearer \xff\xfe", b"basic eA==",
    b"session=\xff; session=;;=", b"session=" + b"a" * 9_000, b"cross-site", b"chunked",
    b"100-continue", b"application/json; charset=utf-16", b"text/plain", b"multipart/form-data",
    b"bytes=0-", b"keep-alive, memory", b"*/*;q=x", b"application/openmetrics-text; version=9.9.9",
    b"h2c", b"websocket",
)  # fmt: skip
OWN = (
    b"x-polychat-memory", b"memory", b"x-memtree-mode", b"memory_expiration_days",
    b"memory-expiration-days", b"x-memory-expiration-days", b"x-chat-id", b"x-chat-memory",
    b"x-memtree-recall-tools",
)  # fmt: skip
HEADER_NAMES = (
    *OWN, b"authorization", b"x-api-key", b"cookie", b"content-type", b"content-encoding",
    b"accept", b"accept-encoding", b"connection", b"te", b"expect", b"range", b"origin",
    b"sec-fetch-site", b"x-stainless-read-timeout", b"upgrade", b"user-agent", b"host",
    b"x-forwarded-for", b"if-none-match", b"x-memtree-address", b"trailer",
)  # fmt: skip
# What HTTP parsers let through in a value (RFC 9110 section 5.5, obs-text included).
_field_bytes = st.lists(st.integers(0x20, 0xFF).filter(lambda one: one != 0x7F), max_size=30).map(
    bytes
)
_token = st.text("abcdefghijklmnopqrstuvwxyz-_0123456789", min_size=1, max_size=12)
headers: st.SearchStrategy[Headers] = st.lists(
    st.tuples(
        st.one_of(st.sampled_from(HEADER_NAMES), _token.map(str.encode)),
        st.one_of(st.sampled_from(HEADER_VALUES), _field_bytes),
    ),
    max_size=5,
)

methods = st.one_of(
    st.sampled_from(["GET", "POST", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS", "TRACE"]),
    st.sampled_from(["PROPFIND", "M-SEARCH", "QUERY", "CONNECT"]),
)
_segments = st.one_of(
    st.sampled_from(
        ["v1", "api", "context_memory", "memory", "chat", "completions", "chat_completions",
         "status", "tree", "delete", "health", "healthz", "metrics", "openapi.json", "models", "",
         ".", "..", "%2e%2e", "%2E", "%2f", "%5c", "%00", "%ff", "%", "%zz", "%0d%0a", "%25",
         "%F0%9F%98%80", ";x", "a" * 5_000, "context_memory%2fdelete", "Context_Memory", ":", "@",
         "*", "~", "|", "{rest}", "\\", "^", "`", "[", "'", '"<>']
    ),
    st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E, exclude_characters="?#"),
            max_size=6),
)  # fmt: skip
paths = st.lists(_segments, min_size=1, max_size=5).map(lambda parts: "/" + "/".join(parts))
queries = st.one_of(
    st.just(""),
    st.sampled_from(["?", "?a=1", "?memory=true", "?a=%ff&&=", "?" + "a" * 9_000, "?x=%00%0d%0a",
                     "?q='\"<>|", "??", "?messages[]=1"]),
)  # fmt: skip


def _bomb() -> bytes:
    """20 MB of zeros, twice compressed."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    once = b"".join(packer.compress(bytes(1_000_000)) for _ in range(20)) + packer.flush()
    return gzip.compress(once)


_SOUND = dumped(SMALL[0])
ENCODED: dict[str, tuple[bytes, bytes]] = {
    "gzip": (b"gzip", gzip.compress(_SOUND)),
    "x-gzip": (b"x-gzip", gzip.compress(_SOUND)),
    "deflate": (b"deflate", zlib.compress(_SOUND)),
    "says gzip, is plain": (b"gzip", _SOUND),
    "says zstd, is gzip": (b"zstd", gzip.compress(_SOUND)),
    "says nothing, is gzip": (b"identity", gzip.compress(_SOUND)),
    "gzip cut off": (b"gzip", gzip.compress(_SOUND)[:-9]),
    "gzip and more": (b"gzip", gzip.compress(_SOUND) + b"more"),
    "gzip of nothing": (b"gzip", gzip.compress(b"")),
    "empty gzip": (b"gzip", b""),
    "empty zstd": (b"zstd", b"\x28\xb5\x2f\xfd"),
    "bomb": (b"gzip", gzip.compress(bytes(20_000_000))),
    "bomb in a bomb": (b"gzip, gzip", _bomb()),
    "many layers": (b",".join([b"gzip"] * 40), _SOUND),
    "unknown": (b"br", b"\x8b"),
    "nonsense": (b"\xff", _SOUND),
    "comma": (b",,,", _SOUND),
    "encoded nonsense": (b"gzip", gzip.compress(b"\xff" * 100)),
    "encoded brackets": (b"gzip", gzip.compress(b"[" * DEEP)),
}
