"""Host, Origin, body type and CORS: which requests of browsers the rules let through."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memtree.config import Settings
from memtree.errors import BadRequest, Forbidden, UnsupportedMedia
from memtree_proxy.http.headers import Authority
from memtree_proxy.server.browser_guard import (
    BrowserPolicy,
    FetchHeaders,
    check_body_type,
    is_page_visit,
    with_cors,
)

HERE = "localhost:8787"
PLAIN = BrowserPolicy.of(Settings())


def policy(**changes: object) -> BrowserPolicy:
    return BrowserPolicy.of(Settings(**changes))  # type: ignore[arg-type]


# -- Host ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host",
    ["localhost", HERE, "LOCALHOST:8787", "localhost.", "127.0.0.1:8787", "192.168.1.5:8787",
     "0.0.0.0:8787", "[::1]:8787", "[::1]", "[FE80::1]:80", "8.8.8.8", "memtree:8787", "memtree",
     "mem_tree:8787", "nas.local", "NAS.local.:8787", "a.b.localhost", "localhost:",
     "host.docker.internal:8787", "x.default.svc.cluster.local", None],
)  # fmt: skip
def test_local_names(host: str | None):
    assert PLAIN.answers_to(host)


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8787", "EVIL.example.", "localhost.evil.example", "evil.",
     "127.0.0.1.evil.example", "127.0.0.1.nip.io", "local.", "evillocal.", "notlocal.x", ".local",
     "xn--80ak6aa92e.com", "user@localhost", "localhost@evil.example", "localhost:80:80",
     "localhost:99999", "localhost:-1", "localhost:0x50", "localhost,localhost",
     "localhost, evil.x", "", " ", "::1", "[::1", "[::1]x", "[evil.example]",
     "[::ffff:1.2.3.4.5]", "[:::::]", "127.1.", "1.2.3.4.5", "256.1.1.1", "localhost/evil",
     "localhost#", "localhost\\evil", "localhost%2e",
     "löcalhost", "lo calhost", "host.docker.internal.evil.example", "a..local", "x" * 2_000,
     "a." * 900 + "local"],
)  # fmt: skip
def test_other_names(host: str):
    assert not PLAIN.answers_to(host)


def test_allowed_hosts_are_names_without_regard_to_case_port_and_final_dot():
    allowed = policy(allowed_hosts=("Memory.Example.com", "xn--mnchen-3ya.example", "a.b."))
    for host in (
        "memory.example.com",
        "MEMORY.example.com.:443",
        "xn--mnchen-3ya.example:1",
        "a.b",
    ):
        assert allowed.answers_to(host)
    for host in ("sub.memory.example.com", "example.com", "memory.example.com.evil.example"):
        assert not allowed.answers_to(host)


def test_the_host_of_public_url_is_one_of_ours():
    assert policy(public_url="https://mem.example/x").answers_to("mem.example")
    assert not policy(public_url="https://mem.example/x").answers_to("x.mem.example")


# -- Origin ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("origin", "host"),
    [("http://localhost:8787", HERE), ("HTTP://LOCALHOST:8787", HERE),
     ("http://nas.local", "nas.local"), ("http://nas.local", "nas.local:80"),
     ("https://m.example", "m.example:443"), ("https://m.example", "m.example"),
     ("https://m.example:443", "m.example"),
     ("http://[::1]:8787", "[0:0:0:0:0:0:0:1]:8787"), ("http://127.0.0.1:8787", "127.0.0.1:8787")],
)  # fmt: skip
def test_our_own_pages(origin: str, host: str):
    assert PLAIN.trusts(FetchHeaders(host=host, origin=origin))
    assert PLAIN.trusts(FetchHeaders(host=host, origin=origin, site="same-origin"))
    assert not PLAIN.trusts(FetchHeaders(host=host, origin=origin, site="cross-site"))
    assert not PLAIN.allows(origin)


FOREIGN = [
    "https://evil.example", "http://localhost:3000", "http://localhost", "http://127.0.0.1:8787",
    "http://localhost:8787.evil.example", "http://localhost:8787@evil.example",
    "http://evil.example@localhost:8787", "http://localhost:8787/", "http://localhost:8787/x",
    "http://localhost:8787 ", "http://localhost:8787,http://localhost:8787", "null", "", "*",
    "localhost:8787", "//localhost:8787", "app://localhost:8787", "file://", "http://",
    "http://localhost:8787#", "http://localhost.:8787", "http://löcalhost:8787",
    "http://xn--lcalhost-n4a:8787", "http://localhost:08787x", "http://" + "x" * 100_000,
    "http://localhost\x00:8787", "ws://localhost:8787",
]  # fmt: skip


@pytest.mark.parametrize("origin", FOREIGN)
def test_other_pages(origin: str):
    for site in (None, "same-origin", "none", "cross-site"):
        assert_refused(FetchHeaders(host=HERE, origin=origin, site=site))


def assert_refused(fetch: FetchHeaders) -> None:
    assert not PLAIN.trusts(fetch), fetch.site
    for method, path in (("POST", "/v1/chat/completions"), ("GET", "/health"), ("POST", "/")):
        with pytest.raises(Forbidden) as caught:
            PLAIN.check_origin(method, path, fetch)
        assert len(caught.value.message) < 400
        assert caught.value.message.isprintable()


@pytest.mark.parametrize(
    "site", ["cross-site", "same-site", "Cross-Site", "new-word", "", "none,none"]
)
def test_requests_without_an_origin_go_by_fetch_metadata(site: str):
    assert not PLAIN.trusts(FetchHeaders(host=HERE, site=site))
    assert PLAIN.trusts(FetchHeaders(host=HERE, site="none"))
    assert PLAIN.trusts(FetchHeaders(host=HERE, site="same-origin"))
    assert PLAIN.trusts(FetchHeaders(host=HERE))


@pytest.mark.parametrize(
    ("method", "path", "mode", "allowed"),
    [("GET", "/", "navigate", True), ("GET", "/ui", "navigate", True),
     ("POST", "/", "navigate", False), ("GET", "/", "no-cors", False), ("GET", "/", None, False),
     ("GET", "/health", "navigate", False),
     ("GET", "/ui/app.js", "navigate", False), ("GET", "//", "navigate", False),
     ("OPTIONS", "/", "navigate", False)],
)  # fmt: skip
def test_links_lead_to_our_pages_alone(method: str, path: str, mode: str | None, allowed: bool):
    fetch = FetchHeaders(host=HERE, site="cross-site", mode=mode)
    if allowed:
        PLAIN.check_origin(method, path, fetch)
    else:
        with pytest.raises(Forbidden):
            PLAIN.check_origin(method, path, fetch)


def test_allowed_origins_are_exact():
    named = policy(
        allowed_origins=(
            "http://localhost:3000",
            "null",
            "app://x",
            "file://",
            "https://c.example:443",
        )
    )
    for origin in ("http://localhost:3000", "null", "app://x", "file://", "https://c.example"):
        assert named.allows(origin)
        assert named.trusts(FetchHeaders(host=HERE, origin=origin, site="cross-site"))
    for origin in ("http://localhost:3001", "https://localhost:3000", "http://localhost:3000.x",
                   "http://localhost:3000/", "app://y", "app://x.y", "file://x", "",
                   "null,null", "https://c.example:444", "http://c.example", None):  # fmt: skip
        assert not named.allows(origin)


def test_a_scheme_stands_for_all_its_origins():
    named = policy(allowed_origins=("vscode-webview:", "moz-extension:"))
    assert named.allows("vscode-webview://1k2j3h4g5f")
    assert named.allows("moz-extension://5e9f0d32-8e63-4d4c-a8b3-0f8c9d1e2f3a")
    for origin in ("vscode-webview", "vscode-webview:", "vscode-webview://a/b",
     "xvscode-webview://a",
                   "http://vscode-webview:80", "vscode-webviewx://a"):  # fmt: skip
        assert not named.allows(origin)


def test_public_url_is_ours_behind_a_proxy_that_rewrites_host():
    behind = policy(public_url="https://mem.example")
    inside = "10.0.0.7:8787"
    for origin in ("https://mem.example", "https://mem.example:443", "http://10.0.0.7:8787"):
        assert behind.trusts(FetchHeaders(host=inside, origin=origin))
    for origin in ("http://mem.example", "https://mem.example:8443", "https://x.mem.example"):
        assert not behind.trusts(FetchHeaders(host=inside, origin=origin))


@pytest.mark.slow
@given(st.text(max_size=40), st.text(max_size=40), st.text(max_size=40))
@example("localhost", "http://localhost", "")
def test_nothing_breaks_the_rules(host: str, origin: str, site: str):
    fetch = FetchHeaders.of(
        [(b"host", host.encode()), (b"Origin", origin.encode()), (b"sec-fetch-site", site.encode())]
    )
    assert not PLAIN.allows(fetch.origin)
    if PLAIN.trusts(fetch):
        here, page = Authority.parse(host), Authority.parse((fetch.origin or "").partition("//")[2])
        assert here is not None
        assert page is not None
        assert here.host == page.host
    PLAIN.answers_to(fetch.host)
    with_cors(list(PLAIN.cors_headers(fetch.origin or "")), [], ours=True)


# -- what is sent twice ----------------------------------------------------------------------


def test_headers_that_are_sent_twice_match_nothing():
    twice = FetchHeaders.of(
        [(b"host", b"localhost"), (b"host", b"localhost"), (b"origin", b"http://localhost"),
         (b"origin", b"http://localhost")]
    )  # fmt: skip
    assert not PLAIN.answers_to(twice.host)
    assert not PLAIN.trusts(twice)
    assert not policy(allowed_origins=("http://localhost",)).allows(twice.origin)
    many = FetchHeaders.of([(b"host", b"localhost")] * 5_000)
    assert not PLAIN.answers_to(many.host)


# -- settings --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value"),
    [("allowed_hosts", "http://a.example"), ("allowed_hosts", "a.example:80"),
     ("allowed_hosts", "a:"), ("allowed_hosts", "*"), ("allowed_hosts", "*.a.example"),
     ("allowed_hosts", "münchen.example"), ("allowed_hosts", "u@a.example"),
     ("allowed_origins", "*"), ("allowed_origins", "http:"),
     ("allowed_origins", "HTTPS:"), ("allowed_origins", "http://*.example"),
     ("allowed_origins", "localhost:3000"), ("allowed_origins", "http://localhost:3000/"),
     ("allowed_origins", "http://u@a.example"), ("allowed_origins", "http://a.example?x"),
     ("allowed_origins", "vscode-webview"), ("public_url", "mem.example"),
     ("public_url", "ftp://mem.example"), ("public_url", "https://u:p@mem.example"),
     ("public_url", "https://mem.example?x=1"), ("public_url", "https://"),
     ("public_url", "https://[::1"), ("public_url", "https://mem.example:99999")],
)  # fmt: skip
def test_a_setting_that_says_nothing_names_itself(name: str, value: str):
    with pytest.raises(BadRequest, match=name) as caught:
        policy(**{name: value if name == "public_url" else (value,)})
    assert caught.value.param == name


# -- bodies ----------------------------------------------------------------------------------

BROWSER = FetchHeaders(origin="http://localhost:8787")
NODE = FetchHeaders(mode="cors", metadata=True)  # its fetch sends this one header


@pytest.mark.parametrize(
    "given_type",
    [b"application/json", b"Application/JSON; charset=utf-8", b"application/x-ndjson",
     b"application/octet-stream", b" application/json;x"],
)  # fmt: skip
def test_types_that_are_read(given_type: bytes):
    for fetch in (FetchHeaders(), BROWSER, NODE):
        check_body_type([(b"Content-Type", given_type)], fetch)


@pytest.mark.parametrize(
    "types",
    [[b"text/plain"], [b"text/plain;charset=UTF-8"], [b"application/x-www-form-urlencoded"],
     [b"multipart/form-data; boundary=application/json"], [b"/"], [b"text/plain; application/json"],
     [b"text/plain, application/json"], [b"application/json, text/plain"], [b"\xff"],
     [b"application/json", b"text/plain"], [b"text/plain", b"application/json"],
     [b"application/jsonx"], [b"x" * 10_000]],
)  # fmt: skip
def test_types_that_are_not(types: list[bytes]):
    for fetch in (FetchHeaders(), BROWSER):
        with pytest.raises(UnsupportedMedia, match="Content-Type: application/json") as caught:
            check_body_type([(b"content-type", value) for value in types], fetch)
        assert len(caught.value.message) < 300


def test_no_type_is_json_from_what_is_no_browser():
    check_body_type([], FetchHeaders(host=HERE))
    check_body_type([(b"content-type", b" ")], FetchHeaders(host=HERE))
    for fetch in (BROWSER, NODE, FetchHeaders(site="none", metadata=True)):
        for headers in ([], [(b"content-type", b"")]):
            with pytest.raises(UnsupportedMedia, match="is missing"):
                check_body_type(headers, fetch)


# -- CORS and the page -----------------------------------------------------------------------


def test_an_upstreams_cors_is_taken_off_our_answers():
    answer = [
        (b"Access-Control-Allow-Origin", b"*"),
        (b"x", b"1"),
        (b"access-control-max-age", b"5"),
    ]
    assert with_cors(answer, [], ours=True) == [(b"x", b"1")]
    assert with_cors(answer, [], ours=False) == answer


def test_an_allowed_origin_reads_what_passes_through_as_well():
    cors = PLAIN.cors_headers("app://x")
    for granted in (b"*", b"app://x"):
        kept = [(b"access-control-allow-origin", granted)]
        assert with_cors(kept, cors, ours=False) == kept
    for other in ([], [(b"access-control-allow-origin", b"https://other.example")]):
        assert with_cors(other, cors, ours=False) == cors


def test_a_preflight_is_granted_what_it_asks_for():
    asked = [(b"access-control-request-headers", b"authorization,x-polychat-memory"),
             (b"access-control-request-private-network", b"true")]  # fmt: skip
    answer = dict(PLAIN.preflight_headers("null", asked))
    assert answer[b"access-control-allow-origin"] == b"null"
    assert answer[b"access-control-allow-headers"] == b"authorization,x-polychat-memory"
    assert answer[b"access-control-allow-private-network"] == b"true"
    assert b"POST" in answer[b"access-control-allow-methods"]
    odd = dict(PLAIN.preflight_headers("null", [(b"access-control-request-headers", b"a\x00<>")]))
    assert b"access-control-allow-headers" not in odd


@pytest.mark.parametrize(
    ("fetch", "accept", "yes"),
    [(FetchHeaders(), "text/html,*/*", True), (FetchHeaders(), "*/*", False),
     (FetchHeaders(), "", False),
     (FetchHeaders(mode="navigate", metadata=True), "TEXT/HTML", True),
     (FetchHeaders(mode="cors", metadata=True), "text/html", False),
     (FetchHeaders(mode="navigate", metadata=True), "image/*", False)],
)  # fmt: skip
def test_who_looks_at_a_page(fetch: FetchHeaders, accept: str, yes: bool):
    assert is_page_visit(fetch, accept) is yes
