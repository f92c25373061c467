"""Read what a tool call does from the shape of its arguments.

Arguments are a path, a command, old and new text, a patch, a query. Product names do not matter;
the words of a call's name only distinguish calls of one shape, such as deleting a file and reading
it.

    >>> [(a.kind, a.text) for a in called("Edit", '{"path":"a.py","old":"x = 1","new":"x = 2"}')]
    [(2, 'a.py')]
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set

from memtree.digests import shell, shell_words
from memtree.digests.call_fields import (
    CREATED,
    DELETED,
    EDITED,
    RAN,
    READ,
    RUN,
    UNDONE,
    WRITTEN,
    Action,
    Field,
    Group,
    groups,
)
from memtree.digests.call_patches import changed, first_line, is_patch, patched
from memtree.language.word_file import WordFile

_PROGRAMS = WordFile("all", "programs")

_DATA = WordFile("all", "tool_calls")

PLACES = _DATA.words("places")
_SPLIT = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_DELETES = _DATA.words("deletes")
_MOVES = _DATA.words("moves")
_WRITES = _DATA.words("writes")
_EDITS = _DATA.words("edits")
_READS = _DATA.words("reads")
_SHOWS = _PROGRAMS.words("shows")
_LISTS = _DATA.words("lists")
_UNDOES = _DATA.words("undoes")
_CODE_RUNNERS = _DATA.words("code_runners")
_FILE_VERBS = frozenset({"edit", "patch", "write"})
_NEW_TEXTS = frozenset({"content", "input"})  # all that is left of a call in some logs
_WORD = re.compile(r"[a-z_]{2,24}$")


def called(name: str, arguments: str, start: int = 0) -> list[Action]:
    """Return the actions of a call; its arguments begin at character `start` of the view."""
    return acted(name, groups(arguments, start))


def acted(name: str, argument_groups: Sequence[Group]) -> list[Action]:
    """Return the actions of a call with these groups of arguments."""
    verbs = _verbs(name)
    actions = [action for group in argument_groups for action in _grouped(verbs, group)]
    if any(action.kind != READ for action in actions):
        actions = [action for action in actions if action.kind != READ]
    return actions


def acts(name: str) -> bool:
    """Return True if a word of a call's name says that it changes a file."""
    return bool(_verbs(name) & (_WRITES | _EDITS | _DELETES))


def _verbs(name: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _SPLIT.findall(name[:80]))


def shown_files(name: str, arguments: str) -> list[str]:
    """List the files that a call's result shows: those it reads itself or in a command line.

    >>> shown_files("Bash", '{"command": "cd app && sed -n 1,9p src/a.py | head -3"}')
    ['1,9p', 'src/a.py']
    """
    argument_groups = groups(arguments)
    paths = [action.text for action in acted(name, argument_groups) if action.kind == READ]
    for group in argument_groups:
        command = _first(group, "commands")
        for simple in shell_words.split(command.text) if command else ():
            words = [word.text for word in simple.words]
            if words and shell.program(words[0]) in _SHOWS and "-i" not in words:
                paths += [w for w in words[1:] if not w.startswith("-") and shell.is_file(w)]
    return paths


def _first(group: Group, section: str) -> Field | None:
    keys = [key for key in _DATA.entries(section) if key in group]
    return group[keys[0]] if keys else None


def _patch(group: Group) -> Field | None:
    fields = (group[key] for key in _DATA.entries("patches") if key in group)
    return next((field for field in fields if is_patch(field.text)), None)


def _grouped(verbs: frozenset[str], group: Group) -> Iterator[Action]:
    path = _first(group, "paths")
    if path is not None and ("\n" in path.text or not path.text.strip()):
        path = None
    command = _first(group, "commands")
    named = command is not None and path is not None and _WORD.match(command.text)
    if command is not None and named and not verbs & {"bash"}:
        yield from _on_path(frozenset(_SPLIT.findall(command.text)), group, path)
        return
    if command is not None:
        yield from shell.commands(command)
        return
    if path is not None or _edits_named_file(verbs, group):
        yield from _on_path(verbs, group, path)
        return
    if (patch := _patch(group)) is not None:
        yield from patched(patch)
    elif (code := _first(group, "code")) is not None and verbs & _CODE_RUNNERS:
        written = list(shell.written_in(code, 0, len(code.text)))
        yield from written
        if (line := first_line(code)) is not None:
            yield Action(RAN, " ".join(code.text.split())[:200], line, command=RUN)


def _edits_named_file(verbs: Set[str], group: Group) -> bool:
    """Return True if a group without a path changes the file that its result names."""
    if verbs & _FILE_VERBS and group.keys() <= _NEW_TEXTS:
        return not any(is_patch(field.text) for field in group.values())
    replaces = _first(group, "olds") is not None and _first(group, "news") is not None
    return replaces or ("replacementtext" in group and bool(PLACES & group.keys()))


def _on_path(verbs: frozenset[str], group: Group, path: Field | None) -> Iterator[Action]:
    """Yield the actions on a file, told by old and new text, a patch, whole contents, or the verb
    alone."""
    if (patch := _patch(group)) is not None:
        yield from patched(patch, path)
        return
    target = _first(group, "targets")
    old = _first(group, "olds")
    place = bool(PLACES & group.keys())
    if verbs & _UNDOES:
        yield _about(UNDONE, path)
    elif verbs & _MOVES and path and target:
        yield _about(DELETED, path)
        yield _about(CREATED, target)
    elif verbs & _DELETES and path and old is None:
        yield _about(DELETED, path)
    elif old is not None and (new := _first(group, "news")) is not None and new is not old:
        line, removes = changed(old, new)
        yield _about(EDITED if old.text or not verbs & _WRITES else WRITTEN, path, line, removes)
    elif verbs & _READS and not verbs & (_EDITS | _WRITES):
        if path and not verbs & _LISTS:
            yield _about(READ, path)
    elif (new := _written(group)) is not None and new is not path:
        if verbs & {"view", "read"}:
            yield _about(READ, path)
            return
        edits = place or bool(verbs & _EDITS and not verbs & _WRITES and "newtext" not in group)
        edits = edits or "codeedit" in group
        yield _about(EDITED if edits else WRITTEN, path, first_line(new))
    elif path is None and verbs & _FILE_VERBS:
        yield _about(EDITED, path)
    elif verbs & _WRITES and path and not verbs & _EDITS:
        yield _about(CREATED, path)
    elif path and not verbs & _LISTS:
        yield _about(READ, path)


def _written(group: Group) -> Field | None:
    """Return the new text of a group, preferably one that is not empty."""
    held = [
        group[key] for key in (*_DATA.entries("contents"), *_DATA.entries("news")) if key in group
    ]
    return next((field for field in held if field.text), held[0] if held else None)


def _about(kind: int, path: Field | None, new: object = None, removes: bool = False) -> Action:
    name = path.span() if path else None
    return Action(kind, path.text if path else "", name, new, removes)  # type: ignore[arg-type]
