"""Read what a git command commits, reverts, deletes or moves."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from memtree.digests.tool_calls.event import COMMITTED, CREATED, DELETED, UNDONE, Action
from memtree.digests.tool_calls.fields import Field, Span
from memtree.digests.tool_calls.patches import first_line
from memtree.digests.tool_calls.shell_words import Command, Word


def file_action(kind: int, source: Field, word: Word, new: Span | None = None) -> Action:
    """Return an action on the file that a word names."""
    return Action(kind, word.text, source.span(word.start, word.end), new, shell=True)


def git_actions(command: Command, source: Field) -> Iterator[Action]:
    words = list(command.words[1:])
    while words and words[0].text.startswith("-"):
        taken = 2 if words[0].text in ("-C", "-c", "--git-dir", "--work-tree") else 1
        words = words[taken:]
    if not words:
        return
    verb, rest = words[0].text, words[1:]
    operands = [word for word in rest if not word.text.startswith("-")]
    if verb == "commit":
        named = _message(rest)
        if named is not None:
            start, end = named.start, named.end
            quoted = source.text[start : start + 1] in "\"'"
            line = source.text[start + quoted : end - quoted].split("\n")[0][:120]
            yield Action(COMMITTED, line, source.span(start + quoted, start + quoted + len(line)))
        elif command.body:
            span = first_line(source, *command.body)
            if span is not None:
                yield Action(COMMITTED, "", span)
        else:
            yield file_action(COMMITTED, source, words[0])
    elif verb in ("checkout", "restore"):
        marked = any(word.text == "--" for word in rest) or verb == "restore"
        files = [word for word in operands if "." in word.text or "/" in word.text]
        kept = any(word.text in ("--staged", "-b") for word in rest)
        if not kept and (marked or any("." in word.text for word in files)):
            for word in files or operands:
                yield file_action(UNDONE, source, word)
    elif verb in ("revert", "stash") or (verb == "reset" and any("hard" in w.text for w in rest)):
        if verb == "stash" and operands and operands[0].text not in ("push", "save"):
            return
        yield Action(
            UNDONE, f"git {verb}", source.span(command.words[0].start, (rest or words)[-1].end)
        )
    elif verb == "rm":
        for word in operands:
            yield file_action(DELETED, source, word)
    elif verb == "mv" and len(operands) > 1:
        yield file_action(DELETED, source, operands[0])
        yield file_action(CREATED, source, operands[-1])


def _message(words: Sequence[Word]) -> Word | None:
    """Return the commit message given on a command line."""
    for index, word in enumerate(words):
        named = word.text == "--message" or re.fullmatch(r"-[a-z]{0,4}m", word.text)
        if named and index + 1 < len(words) and not words[index + 1].text.startswith("$("):
            return words[index + 1]
    return None
