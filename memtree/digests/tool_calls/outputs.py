"""Read results that wrap a call's output in JSON."""

from __future__ import annotations

from collections.abc import Iterator

from memtree.digests.tool_calls.fields import Field, Group, groups
from memtree.digests.tool_calls.results import FAILED, OK
from memtree.language.word_file import WordFile

_DATA = WordFile("all", "tool_calls")


class CallResult:
    """The result of a call, parsed once for all actions that it answers."""

    def __init__(self, text: str) -> None:
        marked = any(f'{key}"' in text[:4_000] for key in ("output", "stdout", "result"))
        self._whole = Field(text)
        self._groups = groups(text) if marked and text.startswith(("{", "[{")) else []

    def about(self, name: str) -> tuple[Field, int | None]:
        """Return the text that a command or an edit of a path printed, and the exit code if the
        result is JSON with both."""
        own = self._groups
        if len(own) > 1:
            named = (group for group in own if any(name in field.text for field in _names(group)))
            own = list(named) or own
        code: int | None = None
        said: list[Field] = []
        for group in own:
            value = group.get("exitcode") or group.get("returncode")
            if value is not None and value.text.lstrip("-").isdigit():
                code = int(value.text)
            if (value := group.get("success")) is not None and value.text == "false":
                code = code or FAILED
            elif value is not None and value.text == "true" and code is None:
                code = OK
            said += [group[key] for key in _DATA.entries("outputs") if key in group][:1]
        return max(said, key=lambda field: len(field.raw), default=self._whole), code


def _names(group: Group) -> Iterator[Field]:
    """Yield the commands and paths to which a part of a result belongs."""
    return (group[key] for key in ("query", "command", "path", "file") if key in group)
