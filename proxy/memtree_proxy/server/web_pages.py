"""Serve the home page, and the web pages under `/ui`, each with its modules in one script.

`GET /` from a browser is a small page that says what runs here and which settings to paste into
clients. All other requests for `/` are relayed to the upstream. The page contains no data, loads
nothing and runs no script, so any site may link to it.

The web pages are the static files of `proxy/memtree_proxy/web`. All of them are read, joined and
compressed when the server starts. A request names a file by its exact path or gets a 404; no part
of a request ever becomes a path of the file system. The pages contain no data, so anybody may fetch
them and any site may link to them; they fetch their data with the key that their user entered.

    /ui, /ui/memories, /ui/tree,             one document each, made from page.html, with the style
    /ui/requests, /ui/state                  sheets of all folders in it
    /ui/-/HASH/PAGE.js                       the modules of a page, joined; cached for ever
    /ui/static/FOLDER/.../NAME               each module, the icon, licences
    /ui/demo.json                            the session of `memtree demo`, for the page that draws
                                             trees; it is made on the first request, and kept

The modules of a page are joined, so that a slow connection loads one file instead of dozens. The
form of the modules in `web/` is supported, and others are refused: they import names (`import { a,
b as c } from "./x.js"`), they export declarations (`export function f`) or a list, and imports form
no cycles. Each becomes a function that runs once and returns its exports, placed after those that
it imports. So neither developers nor the sdist need a bundler.
"""

from __future__ import annotations

import asyncio
import base64
import gzip
import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from html import escape
from pathlib import Path
from string import Template

import msgspec
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import Scope

from memtree import __version__
from memtree.config import Settings
from memtree.errors import NotFound
from memtree_proxy.http.headers import Authority
from memtree_proxy.server.browser_guard import FetchHeaders, is_page_visit
from memtree_proxy.server.demo_session import session
from memtree_proxy.wire.openapi import document

_PAGE = Path(__file__).with_name("home_page.html").read_text("utf-8")
_MAP = (Path(__file__).parents[1] / "web" / "llms.txt").read_text("utf-8")
_STYLE = _PAGE.partition("<style>")[2].partition("</style>")[0]
_DIGEST = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
_LINK = (
    '<li><a href="/ui">/ui</a>: chat, memories, the tree of summaries, and what was saved</li>\n'
)
HOME_HEADERS = {
    "content-security-policy": (
        f"default-src 'none'; style-src 'sha256-{_DIGEST}'; "
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    # the page shows the Host, and other requests for `/` belong to the upstream
    "cache-control": "no-store",
    "vary": "Accept, Sec-Fetch-Mode",
}


class HomeRoute(Route):
    """Route that handles `/` only for a browser that visits the page."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        accept = Headers(scope=scope).get("accept", "") if scope["type"] == "http" else ""
        if accept and is_page_visit(FetchHeaders.of(scope["headers"]), accept):
            return super().matches(scope)
        return Match.NONE, {}


class HomePage:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    async def show(self, request: Request) -> Response:
        page = Template(_PAGE).substitute(
            base=escape(base_url(request, self._settings)),
            version=escape(__version__),
            pages=_LINK if self._settings.ui else "",
        )
        return Response(page, media_type="text/html", headers=HOME_HEADERS)


async def show_map(_: Request) -> Response:
    """Answer `/llms.txt`: links to the documentation, for language models (https://llmstxt.org)."""
    return Response(_MAP, media_type="text/plain")


def base_url(request: Request, settings: Settings) -> str:
    """Return the base URL for clients, with the host name under which the page was reached."""
    if settings.public_url is not None:
        return settings.public_url.rstrip("/") + "/v1"
    host = request.headers.get("host", "")
    if Authority.parse(host) is None:
        host = f"localhost:{settings.port}"
    return f"{request.url.scheme}://{host.lower()}/v1"


class DocumentPage:
    """`GET /openapi.json`: the document, made on the first request. Needs no credential, since it
    says nothing beyond the documentation."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    @cached_property
    def _content(self) -> bytes:
        return msgspec.json.format(msgspec.json.encode(document(self._settings)), indent=2)

    async def show(self, _: Request) -> Response:
        # Reading the document takes a third of a second.
        return Response(
            await asyncio.to_thread(getattr, self, "_content"), media_type="application/json"
        )


_IMPORT = re.compile(r"""^import\s*(?:\{([^}]*)\}\s*from\s*)?["']([^"']+)["'];?[ \t]*\n?""", re.M)
_PASSED_ON = re.compile(r"""^export\s*\{([^}]*)\}\s*from\s*["']([^"']+)["'];?[ \t]*\n?""", re.M)
_DECLARATION = re.compile(
    r"^export (?=(?:async )?(?:function|class|const|let) ?\*? ?([\w$]+))", re.M
)
_LIST = re.compile(r"\bexport\s*\{([^{}]*)\}\s*;?\s*(?://.*\s*)?\Z")
_DOCUMENTATION = re.compile(r"^[ \t]*/\*\*.*?\*/[ \t]*\n", re.M | re.S)
_LOADED_LATE = re.compile(r"""\bimport\((["'])(\.{1,2}/[^"']+)\1\)""")
_LEFT = re.compile(r"^(?:import|export)\b", re.M)


def joined(module: str, scripts: Mapping[str, str], static: str) -> str:
    """Return one script that does what `module` does.

    `scripts`: the text of each module by its name, such as `chat/page.js`. `static`: the address
    below which modules that are loaded late are served. Raises `ValueError` if a module is missing,
    imports itself, or has another form.
    """
    order: list[str] = []
    _visit(module, scripts, order, ())
    return "".join(_function(name, scripts[name], static) for name in order)


def resolved(module: str, target: str) -> str:
    """Return the name of the module that `module` imports as `target`, such as
    `../shell/key.js`."""
    parts = module.split("/")[:-1]
    for step in target.split("/"):
        if step == "..":
            parts = parts[:-1]
        elif step != ".":
            parts.append(step)
    return "/".join(parts)


def _visit(
    module: str, scripts: Mapping[str, str], order: list[str], above: tuple[str, ...]
) -> None:
    """Append the module to `order`, after its imports."""
    if module in order:
        return
    if module in above:
        raise ValueError(f"{module} imports itself over {above[-1]}")
    if module not in scripts:
        raise ValueError(f"{above[-1] if above else 'a page'} imports {module}, which is missing")
    for match in (*_IMPORT.finditer(scripts[module]), *_PASSED_ON.finditer(scripts[module])):
        _visit(resolved(module, match[2]), scripts, order, (*above, module))
    order.append(module)


@cache  # pages share most of their modules
def _function(name: str, text: str, static: str) -> str:
    """Return the module as a function that is called at once, assigned to its name in the
    script."""
    exports = [(export, export) for export in _DECLARATION.findall(text)]

    def imported(match: re.Match[str]) -> str:
        taken = _listed(_pairs(match[1] or ""))
        return f"const {{ {taken} }} = {_bound(resolved(name, match[2]))};\n"

    def passed_on(match: re.Match[str]) -> str:
        source = _bound(resolved(name, match[2]))
        exports.extend((f"{source}.{theirs}", ours) for theirs, ours in _pairs(match[1]))
        return ""

    def listed(match: re.Match[str]) -> str:
        exports.extend(_pairs(match[1]))
        return ""

    text = _DOCUMENTATION.sub("", text)
    for pattern, replacement in (
        (_PASSED_ON, passed_on), (_IMPORT, imported), (_DECLARATION, ""), (_LIST, listed),
        (_LOADED_LATE, lambda match: f'import("{static}{resolved(name, match[2])}")'),
    ):  # fmt: skip
        text = pattern.sub(replacement, text)
    if (left := _LEFT.search(text)) and not left.string.startswith("import(", left.start()):
        raise ValueError(f"{name} has a form that is not supported: {text[left.start() :][:60]!r}")
    returned = _listed((ours, value) for value, ours in exports)
    return f"const {_bound(name)} = (() => {{\n{text}\nreturn {{ {returned} }};\n}})();\n"


def _bound(name: str) -> str:
    """Return the variable for a module; no variable inside the module has this name."""
    return re.sub(r"\W", "_", name) + "$"


def _listed(pairs: Iterable[tuple[str, str]]) -> str:
    """Return the fields of an object, or of its pattern: `a, b: c`."""
    return ", ".join(key if key == value else f"{key}: {value}" for key, value in pairs)


def _pairs(names: str) -> list[tuple[str, str]]:
    """Return (a, b) for each `a as b` of a list, and (a, a) for each `a`."""
    items = [item.split() for item in names.split(",") if item.strip()]
    return [(words[0], words[-1]) for words in items]


ROOT = Path(__file__).resolve().parents[1] / "web"
STATIC = "/ui/static/"
JOINED = "/ui/-/"
DEMO_PATH = "/ui/demo.json"
DEMO_TOKENS = 100_000  # its tree is ready in a second or two, even if embeddings take a minute
DEMO_QUESTIONS = 4
FOR_GOOD = "public, max-age=31536000, immutable"  # its address contains the hash of its content
# In the order of their style sheets
_FOLDERS = ("vendor", "shell", "chat", "memories", "tree", "state", "requests")


# The style sheets of all folders; in each folder base.css comes first
STYLE = "\n".join(
    file.read_text("utf-8")
    for folder in _FOLDERS
    for file in sorted(
        (ROOT / folder).rglob("*.css"), key=lambda file: (file.name != "base.css", str(file))
    )
)
_STYLE_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
HEADERS = {
    "content-security-policy": (
        f"default-src 'none'; script-src 'self'; style-src 'sha256-{_STYLE_HASH}'; img-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-cache",
    "vary": "Accept-Encoding",
}
_TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
}


@dataclass(frozen=True, slots=True)
class PageAddress:
    """A page: its path, the title of its tab, and the module that draws it."""

    path: str
    title: str
    module: str


PAGES = (
    PageAddress("/ui", "Chat", "chat/page.js"),
    PageAddress("/ui/memories", "Memories", "memories/page.js"),
    PageAddress("/ui/tree", "Tree", "tree/page.js"),
    PageAddress("/ui/requests", "Requests", "requests/page.js"),
    PageAddress("/ui/state", "State", "state/page.js"),
)
_PAGE_PATHS = frozenset(page.path.encode() for page in PAGES)


@dataclass(frozen=True, slots=True)
class WebFile:
    """A file as it is sent. `tag`: its entity tag, without quotes; that of the compressed form ends
    with `-gz`. `caching`: its Cache-Control."""

    media_type: str
    content: bytes
    compressed: bytes
    tag: str
    caching: str = HEADERS["cache-control"]

    @classmethod
    def of(
        cls, media_type: str, content: bytes, caching: str = HEADERS["cache-control"]
    ) -> WebFile:
        tag = hashlib.sha256(content).hexdigest()[:32]
        return cls(media_type, content, gzip.compress(content, 9, mtime=0), tag, caching)


class WebPages:
    """Answers with the files. `extra`: more of them, by path."""

    def __init__(self, settings: Settings, extra: Mapping[str, WebFile] | None = None) -> None:
        self._files: dict[bytes, WebFile] = {}
        if settings.ui:
            files = {**web_files(ROOT, settings.model or ""), **(extra or {})}
            self._files = {path.encode(): file for path, file in files.items()}

    async def show(self, request: Request) -> Response:
        """Answer with a file. Raises `NotFound`."""
        # The undecoded path: an encoded slash or dot names no file.
        path = request.scope["raw_path"]
        file = self._files.get(path)
        if file is None and path.removesuffix(b"/") in _PAGE_PATHS and self._files:
            return moved(path.removesuffix(b"/"), request.scope["query_string"])
        if file is None:
            raise NotFound(f"There is no {request.method} {request.url.path[:200]} here.")
        return answer(file, request.headers)


def moved(path: bytes, query: bytes) -> Response:
    """Redirect to the page if a slash was appended to its path."""
    place = path + b"?" + query if query else path
    return Response(status_code=308, headers={**HEADERS, "location": place.decode("latin-1")})


def answer(file: WebFile, headers: Mapping[str, str]) -> Response:
    """Return the file, or 304 if the browser has it; compressed if that is accepted."""
    packed = accepts_gzip(headers.get("accept-encoding", ""))
    tag = f'"{file.tag}-gz"' if packed else f'"{file.tag}"'
    known = headers.get("if-none-match", "")
    shown = {**HEADERS, "cache-control": file.caching, "etag": tag}
    if tag in (etag.strip().removeprefix("W/") for etag in known.split(",")):
        return Response(status_code=304, headers=shown)
    if packed:
        shown["content-encoding"] = "gzip"
    content = file.compressed if packed else file.content
    return Response(content, media_type=file.media_type, headers=shown)


def accepts_gzip(accepted: str) -> bool:
    """Return True if an Accept-Encoding header names gzip, with any weight but zero."""
    for part in accepted.split(","):
        name, _, weight = part.partition(";")
        if name.strip().lower() == "gzip":
            return not re.fullmatch(r"\s*q\s*=\s*0(\.0*)?\s*", weight, re.IGNORECASE)
    return False


@cache
def web_files(root: Path, model: str = "") -> Mapping[str, WebFile]:
    """Return every file that is served, by its path. Read once per process. `model`: the model of a
    first chat, "" if a person chooses."""
    scripts: dict[str, str] = {}
    files: dict[str, WebFile] = {}
    for folder in _FOLDERS:
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in _TYPES:
                text = file.read_text("utf-8")
                name = file.relative_to(root).as_posix()
                files[STATIC + name] = WebFile.of(_TYPES[file.suffix], text.encode())
                if file.suffix == ".js":
                    scripts[name] = text
    template = Template((root / "page.html").read_text("utf-8"))
    for page in PAGES:
        script = joined(page.module, scripts, STATIC).encode()
        digest = hashlib.sha256(script).hexdigest()[:16]
        address = f"{JOINED}{digest}/{page.module.replace('/', '-')}"
        files[address] = WebFile.of(_TYPES[".js"], script, FOR_GOOD)
        document = render(template, page, address, model)
        files[page.path] = WebFile.of("text/html; charset=utf-8", document.encode())
    return files


def render(template: Template, page: PageAddress, script: str, model: str) -> str:
    """Return the document of a page, which shows its frame before `script` is loaded."""
    links = "\n".join(
        f'<a href="{escape(other.path)}"{" aria-current=page" if other is page else ""}>'
        f"{escape(other.title)}</a>"
        for other in PAGES
    )
    return template.substitute(
        title=escape(page.title),
        links=links,
        style=STYLE,
        script=escape(script),
        model=escape(model),
    )


class DemoSession:
    """Answers with the session if the pages are on."""

    def __init__(self, settings: Settings) -> None:
        self._on = settings.ui
        self._making = asyncio.Lock()
        self._file: WebFile | None = None

    async def show(self, request: Request) -> Response:
        """Answer with the session. Raises `NotFound` if the pages are off."""
        if not self._on:
            raise NotFound(f"There is no {request.method} {DEMO_PATH} here.")
        async with self._making:
            if self._file is None:
                self._file = await asyncio.to_thread(demo_file)
        return answer(self._file, request.headers)


def demo_file(tokens: int = DEMO_TOKENS) -> WebFile:
    """Return `{"messages": [...], "questions": [...]}` as a file; the questions are spread over the
    session."""
    messages, facts = session(tokens)
    step = max(1, len(facts) // DEMO_QUESTIONS)
    shown = {
        "messages": [message.fields for message in messages],
        "questions": [fact.question for fact in facts[step // 2 :: step][:DEMO_QUESTIONS]],
    }
    return WebFile.of("application/json", msgspec.json.encode(shown))
