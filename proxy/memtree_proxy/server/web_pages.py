"""`/ui`: the web pages, which are the static files of `proxy/memtree_proxy/web`.

All of them are read, joined and compressed when the server starts. A request names a file by its
exact path or gets a 404; no part of a request ever becomes a path of the file system. The pages
hold no data, so anybody may fetch them and a link on any site may lead to them; what they show they
fetch with the key that their user gave them.

    /ui, /ui/memories, /ui/tree, /ui/state   one document each, made from page.html
    /ui/static/style.css                     the style sheets of all folders, joined
    /ui/static/FOLDER/.../NAME               scripts, the icon, licences
"""

from __future__ import annotations

import gzip
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from string import Template

from starlette.requests import Request
from starlette.responses import Response

from memtree.config import Settings
from memtree.errors import NotFound

ROOT = Path(__file__).resolve().parent.parent / "web"
STATIC = "/ui/static/"
STYLE = f"{STATIC}style.css"
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
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
_FOLDERS = ("vendor", "shell", "chat", "memories", "tree", "state")  # in the order of their styles
_IMPORT = re.compile(r"""^(?:import|export)\b[^;'"]*["'](\.{1,2}/[^"']+)["']""", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class PageAddress:
    """A page: where it is, what its tab is called, and the module that draws it."""

    path: str
    title: str
    module: str


PAGES = (
    PageAddress("/ui", "Chat", "chat/page.js"),
    PageAddress("/ui/memories", "Memories", "memories/page.js"),
    PageAddress("/ui/tree", "Tree", "tree/page.js"),
    PageAddress("/ui/state", "State", "state/page.js"),
)
_PAGE_PATHS = frozenset(page.path.encode() for page in PAGES)


@dataclass(frozen=True, slots=True)
class WebFile:
    """A file as it is sent. `tag`: its entity tag, without quotes; that of the compressed form
    has `-gz` at its end."""

    media_type: str
    content: bytes
    compressed: bytes
    tag: str

    @classmethod
    def of(cls, media_type: str, content: bytes) -> WebFile:
        tag = hashlib.sha256(content).hexdigest()[:32]
        return cls(media_type, content, gzip.compress(content, 9, mtime=0), tag)


class WebPages:
    """Answers with the files. `extra`: more of them, by path."""

    def __init__(self, settings: Settings, extra: Mapping[str, WebFile] | None = None) -> None:
        self._files: dict[bytes, WebFile] = {}
        if settings.ui:
            files = {**web_files(ROOT, settings.model or ""), **(extra or {})}
            self._files = {path.encode(): file for path, file in files.items()}

    async def show(self, request: Request) -> Response:
        """Raises `NotFound`."""
        # As it was sent: an encoded slash or dot names no file.
        path = request.scope["raw_path"]
        file = self._files.get(path)
        if file is None and path.removesuffix(b"/") in _PAGE_PATHS and self._files:
            return moved(path.removesuffix(b"/"), request.scope["query_string"])
        if file is None:
            raise NotFound(f"There is no {request.method} {request.url.path[:200]} here.")
        return answer(file, request.headers)


def moved(path: bytes, query: bytes) -> Response:
    """To the page, for whoever typed a slash at its end."""
    place = path + b"?" + query if query else path
    return Response(status_code=308, headers={**HEADERS, "location": place.decode("latin-1")})


def answer(file: WebFile, headers: Mapping[str, str]) -> Response:
    """The file, or 304 where the browser has it; compressed where that is accepted."""
    packed = accepts_gzip(headers.get("accept-encoding", ""))
    tag = f'"{file.tag}-gz"' if packed else f'"{file.tag}"'
    known = headers.get("if-none-match", "")
    if tag in (one.strip().removeprefix("W/") for one in known.split(",")):
        return Response(status_code=304, headers={**HEADERS, "etag": tag})
    return Response(
        file.compressed if packed else file.content,
        media_type=file.media_type,
        headers={
            **HEADERS,
            "etag": tag,
            **({"content-encoding": "gzip"} if packed else {}),
        },
    )


def accepts_gzip(accepted: str) -> bool:
    """Whether an Accept-Encoding header names gzip, with any weight but zero."""
    for part in accepted.split(","):
        name, _, weight = part.partition(";")
        if name.strip().lower() == "gzip":
            return not re.fullmatch(r"\s*q\s*=\s*0(\.0*)?\s*", weight, re.IGNORECASE)
    return False


@cache
def web_files(root: Path, model: str = "") -> Mapping[str, WebFile]:
    """Every file that is served, by its path. Read once by a process.

    `model`: what a first chat begins with, empty where a person chooses."""
    scripts: dict[str, str] = {}
    styles: list[str] = []
    files: dict[str, WebFile] = {}
    for folder in _FOLDERS:
        for file in sorted((root / folder).rglob("*"), key=_style_order):
            text = file.read_text("utf-8") if file.is_file() else ""
            if file.suffix == ".css":
                styles.append(text)
            elif file.suffix in _TYPES:
                name = file.relative_to(root).as_posix()
                files[STATIC + name] = WebFile.of(_TYPES[file.suffix], text.encode())
                if file.suffix == ".js":
                    scripts[name] = text
    files[STYLE] = WebFile.of("text/css; charset=utf-8", "\n".join(styles).encode())
    template = Template((root / "page.html").read_text("utf-8"))
    for page in PAGES:
        document = render(template, page, loaded(page.module, scripts), model)
        files[page.path] = WebFile.of("text/html; charset=utf-8", document.encode())
    return files


def render(template: Template, page: PageAddress, modules: Iterable[str], model: str) -> str:
    """The document of a page. `modules`: what its script imports, so that the browser need not
    read one to learn of the next."""
    preloads = "\n".join(
        f'<link rel="modulepreload" href="{escape(STATIC + name)}">' for name in modules
    )
    return template.substitute(
        title=escape(page.title),
        module=escape(STATIC + page.module),
        model=escape(model),
        preloads=preloads,
    )


def loaded(module: str, scripts: Mapping[str, str]) -> list[str]:
    """The modules that a module imports, directly or not, each once, in the order of reading."""
    found: dict[str, None] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop(0)
        for imported in _imports(name, scripts.get(name, "")):
            if imported not in found and imported in scripts:
                found[imported] = None
                waiting.append(imported)
    return list(found)


def _imports(name: str, text: str) -> Iterator[str]:
    """What the static imports of a module name, as `folder/file.js`."""
    if name.startswith("vendor/"):
        return
    folder = name.rpartition("/")[0]
    for match in _IMPORT.finditer(text):
        parts = folder.split("/")
        for step in match[1].split("/"):
            if step == "..":
                parts = parts[:-1]
            elif step != ".":
                parts.append(step)
        yield "/".join(parts)


def _style_order(file: Path) -> tuple[bool, str]:
    """The base style comes before all others of its folder."""
    return file.name != "base.css", file.as_posix()
