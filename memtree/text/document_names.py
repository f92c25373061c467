r"""Name texts that were pasted or read, so that a reader of a quotation knows its source.

A name is the title or path of a document, the kind and size of a dump, or, for source code and
settings without a path, the language and first definitions. It is read from the shape of the text's
beginning: licences by their clauses, mails by their headers, files by the path before them, data by
its columns. Where a pasted text begins in a message, `pasted_texts` finds.

    >>> document_name("Subject: Rent\nFrom: Max Berger <max@example.org>\n\nThe rent").title
    'mail from Max Berger: Rent'
    >>> document_name("id,name,city\n1,Ann,Graz\n2,Bo,Wien\n3,Cy,Linz").title
    'CSV, 3 rows: id, name, city'
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import islice

import msgspec

from memtree.language.word_file import WordFile, lazily
from memtree.text.prose_runs import without_prompts

_SOURCE_CODE = WordFile("all", "source_code")

_MOST = 3  # definitions in a name
_LINES_READ = 60  # lines searched for signs of a language
_DEFINING = 40_000  # characters searched for definitions


_LANGUAGES = tuple(
    (
        name,
        _SOURCE_CODE.pattern(f"{key}_signs", re.MULTILINE, shaped=r"^[ \t]*(?:{})".format),
        _SOURCE_CODE.pattern(f"{key}_names", re.MULTILINE),
    )
    for name, key in (
        ("Python", "python"),
        ("TypeScript", "typescript"),
        ("JavaScript", "javascript"),
        ("Rust", "rust"),
        ("Go", "go"),
        ("Java", "java"),
        ("C", "c"),
        ("SQL", "sql"),
        ("shell script", "shell_script"),
        ("CSS", "css"),
    )
)
_SECTION = lazily(r"^\[{1,2}([\w.\" -]{1,60})\]{1,2}\s*$", re.MULTILINE)
_ASSIGNED = lazily(r"^[\w.\"-]{1,60}\s?=\s?\S", re.MULTILINE)
_YAML = lazily(r"^([A-Za-z_][\w.-]{0,40}):(?:\s*$|\s+\S)", re.MULTILINE)
_NESTED = lazily(r"^\s{1,8}(?:- )?[\w.\"'/-]{1,60}:(?:\s|$)|^\s*- \S", re.MULTILINE)


def source_name(text: str, head: str) -> str:
    """Return the language and first definitions of code, or the sections or keys of settings; ""
    for other text."""
    lines = [line for line in head.split("\n")[:_LINES_READ] if line.strip()]
    beginning = "\n".join(lines)
    if settings := _settings(beginning, len(lines)):
        return settings
    counts = [len(signs.findall(beginning)) for _, signs, _ in _LANGUAGES]
    most = max(counts)
    if most < (2 if len(lines) > 4 else 1) or most < 0.08 * len(lines):
        return ""
    name, _, defined = _LANGUAGES[counts.index(most)]
    defined_names = (match[match.lastindex or 0] for match in defined.finditer(text[:_DEFINING]))
    names = list(dict.fromkeys(islice(defined_names, 4 * _MOST)))[:_MOST]
    kind = name if name == "shell script" else f"{name} code"
    return f"{kind}: {', '.join(names)}" if names else kind


def _settings(beginning: str, lines: int) -> str:
    sections = list(dict.fromkeys(_SECTION.findall(beginning)))
    if sections and len(_ASSIGNED.findall(beginning)) >= 0.4 * lines:
        return f"settings: {', '.join(sections[:_MOST])}"
    keys = list(dict.fromkeys(_YAML.findall(beginning)))
    listed = len(keys) + len(_NESTED.findall(beginning))
    if keys and listed > 2 and listed >= 0.6 * lines:
        return f"YAML: {', '.join(keys[: 2 * _MOST])}"
    return ""


_DATA = WordFile("all", "licences")

_READ = 2_500  # characters of the beginning
_SHORT = 1_200  # characters in which the title stands


@cache
def _titles() -> tuple[tuple[str, re.Pattern[str]], ...]:
    titles = _DATA.table("titles").items()
    return tuple((name, re.compile(pattern, re.IGNORECASE)) for name, pattern in titles)


_GENERAL = re.compile(
    r"^[ \t]*(\S[^\n]{2,70}\blicen[cs]e(?: agreement)?(?:,? v[\w. ]{1,14})?)[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_FOURTH = "endorse or promote products"


def licence(text: str, head: str) -> str:
    """Return the name of the licence that a text is, or "". A text that only mentions a licence is
    much longer before the name."""
    beginning = re.sub(r"[ \t\n]+", " ", head[:_READ])[:_SHORT]
    first: tuple[int, str] | None = None
    for name, pattern in _titles():
        match = pattern.search(beginning)
        if match and (first is None or match.start() < first[0]):
            named = name.format(match[1]) if "{}" in name and match.lastindex else name
            first = (match.start(), named)
    if first and _is_text(text, first[1]):
        name = first[1]
        if name == "BSD":
            name = "BSD-3-Clause" if _FOURTH in text[: 2 * _READ] else "BSD-2-Clause"
        return f"{name} licence"
    general = _GENERAL.search(head[:400])
    return general[1] if general and _is_text(text, "") else ""


def _is_text(text: str, name: str) -> bool:
    """Return True if a text holds the words of a licence, not only its name."""
    beginning = text[:8_000].lower()
    words = ("permission", "warranties", "warranty", "licensor", "copyright", "distribut", "liable")
    return sum(word in beginning for word in words) >= (2 if name else 3)


LONGEST = 60  # characters of a name
HEAD = 4_000  # characters of a text's beginning that are read for its title
_LINES = 40  # lines of the beginning that are read
_JSON = 1_000_000  # characters that are parsed
_SHARE = 0.6  # share of the first lines that have the form of a log


@dataclass(frozen=True, slots=True)
class DocumentName:
    """Name of a document. `title`: at most `LONGEST` characters. `certain`: the shape shows that it
    is a document; False for a name made of the first words alone. `lined`: a dump or code, in which
    places are line numbers. `loose`: prose below a heading or a short first line, which may be the
    author's own."""

    title: str
    certain: bool = True
    lined: bool = False
    loose: bool = False


def document_name(text: str) -> DocumentName | None:
    """Return the name of a text, from its beginning and number of lines; None without words."""
    text = without_prompts(text.strip("\n\ufeff")).strip()
    notice = _NOTICE.match(text[:HEAD])
    if notice and _RIGHTS.search(notice.group()):  # a file's comment with copyright and licence
        text = text[notice.end() :].lstrip("\n")
    head = text[:HEAD]
    for recognise in _RECOGNISERS:
        if name := recognise(text, head):
            lined = recognise in _LINED
            return DocumentName(shortened(name), lined=lined, loose=recognise in _LOOSE)
    first = _first_words(head)
    return DocumentName(shortened(first), certain=False) if first else None


def shortened(name: str) -> str:
    """Shorten a name to one line of at most `LONGEST` characters, cut behind a word; a path keeps
    its end."""
    line = " ".join("".join(c if c.isprintable() else " " for c in name).split())
    if len(line) <= LONGEST:
        return line
    if " " not in line and "/" in line:
        return "…" + line[1 - LONGEST :]
    cut = line[:LONGEST].rpartition(" ")[0] or line[: LONGEST - 1]
    return cut.rstrip(" ,;:.-–—(") + "…"


_NOTICE = lazily(
    r"\s{0,9}(?:/\*(?:[^*]|\*(?!/))*+\*/|<!--(?:[^-]|-(?!->))*+-->"
    r"|(?:[ \t]*(?://|#(?!#)|--(?!-)|;|%)[^\n]*\n){2,})"
)
_RIGHTS = lazily(r"copyright|licen[sc]e|spdx", re.IGNORECASE)

# -- files with a path -------------------------------------------------------------------------

_PATH = r"(?:[A-Za-z]:)?[\w.@~+/\\-]{0,200}[\w+-]\.[A-Za-z][\w+]{0,9}"
_BARE = r"(?:[\w.@~+/\\-]{0,200}/)?(?:Makefile|Dockerfile|README|LICEN[CS]E|CHANGELOG|Gemfile)"
PATH_LINE = lazily(
    rf"(?:(?:#{{1,6}}|//|--|;|%|\"|/\*|<!--|={{2,}}>?|-{{3,}}|\*{{2}}|`)[ \t]*|\[)?"
    rf"(?:(?:open )?(?:file|path|source|filename|contents? of|document)[ \t]*[:=]?[ \t]*)?"
    rf"[\"'`(\[]{{0,2}}(?P<path>{_PATH}|{_BARE})[\"'`)\]*]{{0,3}}"
    rf"(?:[ \t]*\(\d[^)\n]{{0,40}}\))?\]?[ \t]*(?:\*/|-->|<?={{2,}}|-{{3,}}|:)?[ \t]*$",
    re.IGNORECASE,
)
_TAGGED = lazily(
    r"<(?:path|source|file(?:_?name|_?path)?)>\s{0,20}(?P<a>[^<\n]{2,200}?)\s{0,20}</"
    r"|<(?:file|document|file_content|source_file)\s[^<>\n]{0,100}?"
    r"(?:path|name|src|source|file)=[\"'](?P<b>[^\"'\n]{2,200})[\"']",
    re.IGNORECASE,
)


# The end of a tool's line before a file, as in "the result of `cat -n` on a/b.c:"
_HANDED = lazily(rf"\b(?:on|of|from|in|file) [\"'`]?(?P<path>/?[\w.@~+-]+/{_PATH})[\"'`]?:$")


def _path(text: str, head: str) -> str:
    """Return the path on the first line, at its end, or in the tag around the text."""
    first = head.lstrip().partition("\n")[0][:300].strip()
    if match := PATH_LINE.match(first):
        section = first[0] == "[" and not first.lower().startswith("[file")
        return "" if section or "://" in first else match["path"].replace("\\", "/")
    if first[-1:] == ":" and (match := _HANDED.search(first)):
        return match["path"]
    tagged = _TAGGED.match(head.lstrip()) or (
        _TAGGED.search(head[:400]) if head.lstrip()[:1] == "<" else None
    )
    return (tagged["a"] or tagged["b"] or "") if tagged else ""


# -- mails and letters -------------------------------------------------------------------------

_SUBJECT = lazily(
    r"^[>\s*]{0,6}(?:subject|betreff|objet|asunto|assunto|oggetto|onderwerp|тема|件名|主题)\**"
    r"\s?[:：]\**[ \t]*(?P<it>\S[^\n]{0,200})",
    re.IGNORECASE | re.MULTILINE,
)
_FROM = lazily(
    r"^[>\s*]{0,6}(?:from|von|de|da|van|от|差出人|发件人)\**\s?[:：]\**[ \t]*"
    r"(?P<it>[^\s<\n][^<\n]{0,80}|<[^>\n]{3,80}>)",
    re.IGNORECASE | re.MULTILINE,
)
_DEAR = lazily(
    r"(?:dear|sehr geehrte[rs]?|liebe[rs]?|estimad[oa]s?|ch[eè]re?s?|gentile|geachte)\s"
    r"(?P<it>[^\n,!:.]{2,40})[,!:]?[ \t]*\n",
    re.IGNORECASE,
)
_REPLY = lazily(r"^(?:(?:re|fwd?|aw|wg|antw|tr|rv)\s?:\s*)+", re.IGNORECASE)


def _mail(_: str, head: str) -> str:
    top = "\n".join(head.lstrip().split("\n", 15)[:15])[:1_500]
    subject, sender = _SUBJECT.search(top), _FROM.search(top)
    if sender and "@" not in sender.group() and not subject:
        sender = None
    if not (sender or (subject and subject.start() < 200)):
        letter = _DEAR.match(head.lstrip())
        return f"letter to {letter['it'].strip()}" if letter else ""
    name = sender["it"].strip(' "<>*') if sender else ""
    who = f" from {name}" if name else ""
    about = _REPLY.sub("", subject["it"]).strip(" *") if subject else ""
    return f"mail{who}: {about}" if about else f"mail{who}"


# -- dumps -------------------------------------------------------------------------------------

_DIFFED = lazily(
    r"^(?:diff --git \S{1,300} b/(?P<a>\S{1,300})|\+\+\+ (?:b/)?(?P<b>[^\s]{1,300})"
    r"|\*\*\* (?:Update|Add|Delete) File: (?P<c>\S{1,300}))",
    re.MULTILINE,
)
_IS_DIFF = lazily(r"^(?:diff --git |@@ -\d|\*\*\* Begin Patch|Index: \S)", re.MULTILINE)
_COMMITTED = lazily(r"commit [0-9a-f]{7,40}\b|From [0-9a-f]{40} ")


def _diff(text: str, head: str) -> str:
    if not _IS_DIFF.search(head):
        return ""
    begins = head.lstrip().startswith(("diff ", "---", "@@", "*** ", "Index:", "+++"))
    if not begins and not _COMMITTED.match(head.lstrip()):
        return ""
    files = [m["a"] or m["b"] or m["c"] for m in islice(_DIFFED.finditer(text), 400)]
    names = list(dict.fromkeys(name for name in files if name != "/dev/null"))
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return f"diff of {names[0]}{more}" if names else "diff"


_STAMPED = lazily(
    r"\s{0,4}(?:\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d\b"
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d|\d{1,3}(?:\.\d{1,3}){3} \S+ \S+ \["
    r"|\[?\d\d[/-](?:\d\d|[A-Z][a-z]{2})[/-]\d{2,4}[ :T]\d\d:\d\d"
    r"|\[\s{0,6}\d{1,9}\.\d{3,9}\]|\[?(?:DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|TRACE|CRITICAL)\b"
    r"|\S{1,40} (?:\| )?(?:DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL)\b)"
)
_ERROR_LINE = lazily(
    r"\b(?:ERROR|FATAL|CRITICAL|SEVERE|panic|Traceback|\w{2,40}(?:Error|Exception))\b|\berror[: \[]"
)
_TRACEBACK = lazily(
    r"Traceback \(most recent call last\)|^\s+at [\w.$<>]+\(|^\s*File \"[^\"\n]{1,300}\", line \d",
    re.MULTILINE,
)
_RAISED = lazily(r"^((?:\w+\.){0,6}\w*(?:Error|Exception|Warning|Exit)\b[^\n]{0,160})", re.M)
_BEFORE = lazily(r"^.{0,80}?\b(?:ERROR|FATAL|CRITICAL|SEVERE|error)\b[\]:|\s-]*")


def _log(text: str, head: str) -> str:
    lines = [line for line in head.split("\n")[:_LINES] if line.strip()]
    stamped = sum(_STAMPED.match(line[:120]) is not None for line in lines)
    if len(lines) < 3 or stamped < _SHARE * len(lines):
        return ""
    every = text.split("\n")
    errors = [line for line in every if _ERROR_LINE.search(line[:300])]
    counted = f"log, {len(every)} lines"
    if not errors:
        return counted
    first = _BEFORE.sub("", errors[0][:300]).strip() or errors[0].strip()
    return f"{counted}, {len(errors)} error{'s' * (len(errors) > 1)}: {first}"


def _traceback(text: str, head: str) -> str:
    if not _TRACEBACK.search(head[:1_500]):
        return ""
    raised = _RAISED.findall(text[:20_000])
    return f"traceback: {raised[-1]}" if raised else "traceback"


_KEY = lazily(r'"([A-Za-z_][\w .-]{0,40})"\s{0,5}:')


def _json(text: str, head: str) -> str:
    begin = head.lstrip()[:1]
    if begin not in ("{", "[") or not begin:
        return ""
    value: object = None
    if len(text) <= _JSON:
        try:
            value = msgspec.json.decode(text)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            value = None
    if isinstance(value, dict):
        called = next((value[k] for k in ("name", "title", "id") if _says(value.get(k))), "")
        return f"JSON{f' of {called}' if called else ''}: {_keys(value)}"
    if isinstance(value, list) and value:
        first = value[0]
        inside = f": {_keys(first)}" if isinstance(first, dict) else ""
        return f"JSON, {len(value)} {'records' if inside else 'values'}{inside}"
    keys = list(dict.fromkeys(_KEY.findall(head)))
    if len(keys) < 2:
        return ""
    records = sum(line.startswith("{") for line in text.split("\n")) if begin == "{" else 0
    size = f" lines, {records} records" if records > 2 else ""
    return f"JSON{size}: {', '.join(keys[:6])}"


def _says(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 40


def _keys(value: dict[str, object]) -> str:
    return ", ".join(str(key)[:30] for key in islice(value, 6))


def _table(text: str, head: str) -> str:
    lines = [line for line in head.split("\n")[:_LINES] if line.strip()]
    if len(lines) < 3:
        return ""
    for mark, kind in ((",", "CSV"), ("\t", "TSV"), (";", "CSV"), ("|", "table")):
        columns = lines[0].count(mark)
        first = lines[0].strip("| ").split(mark)
        if columns < 1 or any(len(name) > 40 for name in first):
            continue
        if columns < 2 and (mark != "," or len(lines) < 5 or max(map(len, lines)) > 60):
            continue
        same = sum(line.count(mark) == columns for line in lines[1:-1])
        if same < 0.85 * len(lines[1:-1]) or re.search(r"[.!?;{}()]\s*$", lines[0]):
            continue
        names = [name.strip().strip("\"'") for name in first]
        if any(map(str.isdigit, "".join(names))) and not all(n[:1].isalpha() for n in names):
            return f"{kind}, {_rows(text)} rows of {len(names)}"
        return f"{kind}, {_rows(text) - 1} rows: {', '.join(filter(None, names))}"
    return ""


def _rows(text: str) -> int:
    return sum(1 for line in text.split("\n") if line.strip(" -|:+"))


# -- titles ------------------------------------------------------------------------------------

_HTML = lazily(r"\s{0,20}(?:<!doctype html|<html|<head|<body|<title)", re.IGNORECASE)
_XML = lazily(
    r"\s{0,9}(?:<\?xml[^>]{0,200}\?>\s{0,20}(?:<![^>]{0,400}>\s{0,20}){0,3}<(?P<root>[\w:.-]{1,40})"
    r"|<(?P<bare>svg|rss|feed)\s)"
)
_HTML_TITLE = lazily(
    r"<title[^<>]{0,200}>\s{0,50}([^<]{1,200}?)\s{0,50}</|<h1[^<>]{0,200}>([^<]{1,200})</", re.I
)
_FRONT = lazily(r"^title\s?[:=]\s?[\"']?(\S[^\n\"']{0,150})", re.IGNORECASE | re.MULTILINE)
_ADDRESS = lazily(r"https?://(?:www\.)?([\w.-]{3,60})")
_HEADING = lazily(r"^#{1,3}[ \t]+(\S[^\n]{0,150}?)[ \t#]*$", re.MULTILINE)
_UNDERLINED = lazily(r"^(?:[=#*~-]{3,}\n)?([^\s#=][^\n]{1,120})\n[=~*#-]{3,}[ \t]*$", re.MULTILINE)
_HTML_HEADING = lazily(r"<h1[^<>]{0,200}>(.{1,300}?)</h1>", re.IGNORECASE | re.DOTALL)
_MARKDOWN = lazily(r"\]\(https?:|^#{2,4} \S|^`{3}", re.MULTILINE)
_REMARK = 80  # letters before the first heading, beside badges and links
_TAG = lazily(r"<[^<>]{0,400}>|\|[\w-]{1,40}\||https?://\S{1,300}")
_LINK = lazily(r"!?\[([^\]\n]{0,80})\]\([^)\n]{0,300}\)|[*_`]{1,3}")


def _page(text: str, head: str) -> str:
    if _HTML.match(head):
        title = _HTML_TITLE.search(text[: 10 * HEAD])
        return f"web page: {(title[1] or title[2]).strip()}" if title else "web page"
    if root := _XML.match(head):
        kind = root["root"] or root["bare"]
        return "SVG image" if kind == "svg" else f"XML: {kind}"
    top = head.lstrip()
    front = _FRONT.search(top[:800])
    if front and (front.start() == 0 or top.startswith(("---", "+++"))):
        site = _ADDRESS.search(top[:800])
        return f"{front[1].strip()} ({site[1]})" if site else front[1].strip()
    return ""


def _markdown(text: str, head: str) -> str:
    """Return the first heading of Markdown; a comment in code has no links and headings below."""
    begins = head.lstrip()
    marked = _MARKDOWN.search(text[:HEAD]) is not None
    return _titled(text, begins) if marked and begins[:1] in "#<![" else ""


def _titled(_: str, head: str) -> str:
    """Return a heading near the beginning, with only badges, links or a remark before it."""
    for pattern in (_HEADING, _UNDERLINED, _HTML_HEADING):
        for heading in islice(pattern.finditer(head[:1_500]), 3):
            bare = _LINK.sub(lambda match: match[1] or "", heading[1])
            title = _TAG.sub("", bare).strip(" :#\n")
            before = _LINK.sub("", _TAG.sub("", head[: heading.start()]))
            if sum(map(str.isalpha, before)) > _REMARK:
                break
            is_title = any(map(str.isalpha, title)) and not _RIGHTS.match(title)
            is_title = is_title and title[0] != "/" and title[-1] != "."  # a command, or a sentence
            if is_title and len(title.split()) < 16:
                return title
    return ""


_END = lazily(r"[.!?,;:。！？]\W*$")


def _article(_: str, head: str) -> str:
    """Return the first line of prose if it is short, no full sentence, and paragraphs follow."""
    lines = [line.strip() for line in head.split("\n")[:_LINES] if line.strip()]
    if len(lines) < 3 or not 6 <= len(lines[0]) <= 110 or _END.search(lines[0]):
        return ""
    if lines[0][0] in "-*•>|{[(<" or not any(len(line) > 120 for line in lines[1:8]):
        return ""
    words = lines[0].split()
    return lines[0] if 1 < len(words) < 18 else ""


def _first_words(head: str) -> str:
    """Return the beginning of the first line with more than three letters; "" without one."""
    for line in head.split("\n"):
        plain = line.strip(" \t#>*-|`=_")
        if sum(map(str.isalpha, plain)) > 3:
            cut = plain[: LONGEST - 10]
            return f"text “{cut.rpartition(' ')[0] or cut} …”"
    return ""


_RECOGNISERS: tuple[Callable[[str, str], str], ...] = (
    _path,
    licence,
    _diff,
    _mail,
    _json,
    _log,
    _traceback,
    _page,
    _table,
    _markdown,
    source_name,
    _titled,
    _article,
)
_LOOSE = (_markdown, _titled, _article)
_LINED = (_path, _json, _log, _traceback, _table, source_name)
