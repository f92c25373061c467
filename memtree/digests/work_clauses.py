"""Describe an agent's work in clauses of summaries.

It is files read and changed, commands and their outcomes.

    edited `src/match.c` 3 times, last `case TK_ISO`
    `make build`: failed 2 of 3 times, last failed: `Error 2`
    `make docs`: ran: `34 pages`
    read 14 files in src/, tests/, last `src/app.py`

Names stand in backticks, which `clauses.tidy` strips from all other text, so a parent can read its
children's work from their bodies and add it up. Calls are read in `tool_calls.py`, results in
`call_results.py`, and they are matched in `leaf_work.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from memtree.digests.call_fields import CREATED, DELETED, EDITED, RAN, READ, UNDONE
from memtree.digests.call_results import ENDS, OK
from memtree.digests.clause import Clause
from memtree.text import secrets
from memtree.text.request_words import asks

# Kinds beside those of actions: an edit that may not have been made, any other call
TRIED, USED = 20, 21
SHOWN = 22  # lines of a file in a result whose call is in another leaf
NAME, DETAIL = 48, 60  # characters
NAMED = 3  # files read that are named individually
MOST = 8  # clauses of one summary
_VERBS = {CREATED: "created", EDITED: "edited", DELETED: "deleted", UNDONE: "restored"}
_KINDS = {verb: kind for kind, verb in _VERBS.items()}
_KINDS |= {"tried to edit": TRIED, "ran": USED}
# Scores of the kinds of work; reads and calls say least.
_SCORES = {CREATED: 5.0, EDITED: 5.0, DELETED: 4.5, UNDONE: 4.5, RAN: 4.2, TRIED: 3.4}
_SCORES |= {READ: 2.6, SHOWN: 2.5, USED: 2.0}
_KEYS = {RAN: "command", USED: "command", READ: "read", SHOWN: "lines"}
_NAMED = r"`([^`]{1,60})`"
_NAME = re.compile(_NAMED)
_CHANGED = re.compile(
    rf"(created|edited|deleted|restored|tried to edit|ran) {_NAMED}(?: (\d{{1,6}}) times)?"
    r"(?:(?:, last|:) `([^`]{1,80})`)?"
)
_ENDS = "|".join(("passed", *ENDS.values()))
_RAN = re.compile(
    rf"{_NAMED}: (?:({_ENDS})(?: (\d{{1,6}}) of)?(?: (\d{{1,6}}) times)?"
    rf"(?:, last ({_ENDS}))?)(?: \(([^()`]{{1,40}})\))?(?:: `([^`]{{1,80}})`)?"
)
_BAD = frozenset(word for code, word in ENDS.items() if code > OK)
_READS = re.compile(r"(read|lines(?: (\d+-\d+))? of) ((?:`[^`]{1,60}`(?:, )?){1,6})")
_READ_MANY = re.compile(
    rf"(?:read (?:files )?(\d{{1,6}}) (?:files|times)|lines of (?:(\d{{1,6}}) )?files)"
    rf"(?: in ([^`]{{1,80}}))?, last {_NAMED}"
)
_WORKED = re.compile(
    r"(?:read|ran|created|edited|deleted|restored|tried to edit|lines) "
    rf"|[\w./ -]{{1,60}}: (?:{_ENDS})"
)
_BREAKS = re.compile(r"[;.!?…:](?=\s)|[。！？]")


_MARKS = str.maketrans("`“”", "'''")


@dataclass(slots=True)
class Work:
    """Work of one kind on one object. `bad`: how many of `times` a command failed or was killed;
    `end`: outcome of its last run (`ENDS`, of tests also `passed`); `counts`: its tests; `exact`:
    False for files that may be counted twice."""

    kind: int
    name: str
    times: int = 1
    bad: int = 0
    end: str = ""
    counts: str = ""
    detail: str = ""
    exact: bool = True


def shown(text: str, most: int, quoted: Callable[[str], bool] = asks) -> str:
    """Return a text as a name or detail shows it: one line that a body does not split. A text for
    which `quoted` is true, by default a request, is not shown."""
    plain = _BREAKS.sub(",", text[: 4 * most].translate(_MARKS))
    plain = " ".join(plain.split()).strip(" ,")
    if len(plain) > most:
        plain = plain[:most].rpartition(" ")[0] or plain[:most]
    return "" if " " in plain and quoted(plain) else secrets.mask(plain)


def short_path(path: str) -> str:
    """Return the last two parts of a path.

    >>> short_path("/srv/shop/src/app.py")
    'src/app.py'
    """
    parts = [part for part in path.replace("\\", "/").split("/") if part]
    if path.startswith("/") and len(parts) == 2:
        parts = parts[1:]  # the part below a sandbox's folder
    kept = "/".join(parts[-2:])
    return shown(kept if len(kept) <= NAME else parts[-1][-NAME:], NAME) if parts else ""


def merged(works: Iterable[Work]) -> list[Work]:
    """Merge works on the same object, in the order of their last work."""
    kept: dict[tuple[str, str], Work] = {}
    names: dict[tuple[str, str], str] = {}  # by the last part of a path
    for work in works:
        family = _KEYS.get(work.kind, "file")
        base = (family, work.name.rpartition("/")[2] if family == "file" else work.name)
        name = names.setdefault(base, work.name)
        if name.endswith(f"/{work.name}") or work.name.endswith(f"/{name}"):
            work = replace(work, name=name)
        known = kept.pop((family, work.name), None)
        kept[family, work.name] = _together(known, work) if known else replace(work)
    return list(kept.values())


def _together(first: Work, second: Work) -> Work:
    """Merge two works on the same object; the newer one gives the outcome."""
    kind = second.kind
    if kind in (RAN, USED) and bool(first.end) != bool(second.end):
        return first if first.end else second
    if kind == TRIED and first.kind != DELETED:
        kind, second = first.kind, replace(second, times=0) if first.kind != TRIED else second
    elif first.kind == CREATED and kind == EDITED:
        kind = CREATED
    elif first.kind == TRIED:
        first = replace(first, times=0)
    if kind in (READ, SHOWN):
        low, high = first.detail.partition("-")[0], second.detail.partition("-")[2]
        if not (low[6:].isdigit() and high.isdigit() and int(low[6:]) < int(high)):
            low = ""
        times = 1 if first.exact and second.exact else first.times + second.times
        exact = first.exact and second.exact
        where = f"{low}-{high}" if low and high else "" if exact else second.detail or first.detail
        return Work(kind, second.name, times, detail=where, exact=exact)
    return Work(
        kind,
        second.name,
        first.times + second.times,
        first.bad + second.bad,
        second.end or first.end,
        second.counts if second.end else first.counts,
        second.detail or (first.detail if kind != RAN else ""),
    )


def work_clauses(works: Sequence[Work], speaker: str = "tool") -> list[Clause]:
    """Return the clauses of merged works: all reading in one, the most informative other works one
    by one. Shown lines of a file that was read are left out, and all such lines if many files were
    read."""
    reads = [work for work in works if work.kind == READ]
    names = {work.name for work in reads}
    many = len(reads) > NAMED or not all(work.exact for work in reads)
    views = [work for work in works if work.kind == SHOWN and not many and work.name not in names]
    others = [work for work in works if work.kind not in (READ, SHOWN)]
    best = {id(work) for work in sorted(others, key=lambda work: -_score(work))[:MOST]}
    made = [_clause(work, speaker) for work in others if id(work) in best]
    return [*(_reads(group, speaker) for group in (reads, views) if group), *made]


def _score(work: Work) -> float:
    kind = USED if work.kind == RAN and not work.end else work.kind
    bare = 2.4 * (kind == EDITED and not work.detail)  # a commit says more
    return _SCORES[kind] - bare + 0.05 * min(work.times, 8) + (0.3 if work.bad else 0.0)


def _clause(work: Work, speaker: str) -> Clause:
    name = work.name
    if work.kind == RAN and work.end:
        text, brief = _ran(work), f"ran {name}" if work.end == "ran" else f"{name} {work.end}"
    else:
        verb = _VERBS.get(work.kind) or ("tried to edit" if work.kind == TRIED else "ran")
        times = f" {work.times} times" if work.times > 1 else ""
        detail = f"{', last' if times else ':'} `{work.detail}`" if work.detail else ""
        text, brief = f"{verb} `{name}`{times}{detail}", f"{verb} {name}{times}"
    return Clause(speaker, text, _score(work), True, brief=brief, work=True)


def _ran(work: Work) -> str:
    if work.times == 1:
        said = work.end
    elif work.bad in (0, work.times):  # how the others ended may be unknown
        word = "failed" if work.bad else "ran"
        said = f"{word} {work.times} times" + (f", last {work.end}" if work.end != word else "")
    else:
        said = f"failed {work.bad} of {work.times} times, last {work.end}"
    counts = f" ({work.counts})" if work.counts else ""
    return f"`{work.name}`: {said}{counts}" + (f": `{work.detail}`" if work.detail else "")


def _reads(reads: Sequence[Work], speaker: str) -> Clause:
    last, kind = reads[-1].name, reads[0].kind
    single = [work for work in reads if work.exact]
    groups = [work for work in reads if not work.exact]
    if not groups and len(single) <= NAMED:
        lines = reads[0].detail if len(reads) == 1 else ""
        verb = "read" if kind == READ else f"{lines} of" if lines else "lines of"
        text = f"{verb} {', '.join(f'`{work.name}`' for work in reads)}"
        return Clause(speaker, text, _SCORES[kind], True, brief=text.replace("`", ""), work=True)
    count = len(single) + sum(work.times for work in groups)
    folders = [work.detail for work in groups if work.detail]
    folders += [f"{folder}/" for work in single if (folder := work.name.rpartition("/")[0])]
    where = ", ".join(dict.fromkeys(part for each in folders for part in each.split(", ")))
    where = f" in {where}" if where and len(where) <= NAME else ""
    if last.rpartition("/")[0] and where:
        last = last.rpartition("/")[2]
    sure = not groups or len(reads) == 1
    if kind == SHOWN:
        many = f"lines of {count} files" if sure and count else "lines of files"
    else:
        many = f"read {count} files" if sure else f"read files {count} times"
    text = f"{many}{where}, last `{last}`"
    score = _SCORES[kind] + 0.6
    brief = f"{many}{where}" if kind == READ else f"lines to {last}"
    return Clause(speaker, text, score, True, brief=brief, work=True)


def is_work(phrase: str) -> bool:
    """Return True for a phrase of a headline that describes work."""
    return bool(_WORKED.match(phrase))


def works_in(piece: str) -> Iterator[Work]:
    """Yield the works that a clause of a body describes; none for any other clause."""
    if "`" not in piece:
        return
    if match := _READS.fullmatch(piece):
        lines = f"lines {match[2]}" if match[2] else ""
        for name in _NAME.findall(match[3]):
            yield Work(READ if match[1] == "read" else SHOWN, name, detail=lines)
    elif match := _READ_MANY.fullmatch(piece):
        kind = READ if match[1] else SHOWN
        count = int(match[1] or match[2] or 0)
        yield Work(kind, match[4], count, detail=match[3] or "", exact=False)
    elif match := _CHANGED.fullmatch(piece):
        yield Work(_KINDS[match[1]], match[2], int(match[3] or 1), detail=match[4] or "")
    elif match := _RAN.fullmatch(piece):
        times = int(match[4] or 1)
        bad = int(match[3] or (times if match[2] in _BAD else 0))
        end = match[5] or match[2]
        yield Work(RAN, match[1], times, bad, end, match[6] or "", match[7] or "")
