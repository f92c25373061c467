"""A schema document as it is compiled, where that is not as it was written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memtree.memories.schemas.document.patterns import usable
from memtree.memories.schemas.document.sub_schemas import REF, SubSchema, reference, shown

PATTERN, PATTERNS = "pattern", "patternProperties"

_AT_THE_TOP = ("$id", "$schema")  # a base address would change what references mean


class CompilableDocument:
    """`document`: its references in one spelling, whichever reader resolves them; its patterns in
    the engine's. `patterns`: of these, what was written."""

    def __init__(self, found: Sequence[SubSchema]) -> None:
        """`found`: the document first."""
        self.patterns: dict[str, str] = {}
        self._found = found
        self._by_rules = {id(one.rules): one for one in found}
        whole = self._copied(found[0].rules)
        self.document = {name: each for name, each in whole.items() if name not in _AT_THE_TOP}

    def _copied(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._copied(each) for each in value]
        if not isinstance(value, dict):
            return value
        kept = {name: self._copied(each) for name, each in value.items()}
        one = self._by_rules.get(id(value))
        return kept if one is None else self._rewritten(one, kept)

    def _rewritten(self, one: SubSchema, kept: dict[str, Any]) -> dict[str, Any]:
        if one.target is not None:
            kept[REF] = reference(self._found[one.target].place)
        if isinstance(kept.get(PATTERN), str):
            kept[PATTERN] = self._usable(kept[PATTERN], one)
        if isinstance(kept.get(PATTERNS), dict):
            named: dict[str, Any] = {}
            for name, each in kept[PATTERNS].items():
                said = self._usable(name, one)
                while said in named:  # two spellings of one pattern
                    said += "(?:)"
                named[said] = each
            kept[PATTERNS] = named
        return kept

    def _usable(self, pattern: str, one: SubSchema) -> str:
        said = usable(pattern, shown(one.place))
        self.patterns[said] = pattern
        return said
