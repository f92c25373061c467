"""A schema document as it is compiled, where that is not as it was written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memtree.memories.agents.schemas.document.patterns import usable
from memtree.memories.agents.schemas.document.sub_schemas import REF, SubSchema, reference, shown

PATTERN, PATTERNS = "pattern", "patternProperties"

_AT_THE_TOP = ("$id", "$schema")  # a base address would change what references mean


class CompilableDocument:
    """`document`: its references in one spelling, whichever reader resolves them; its patterns in
    the engine's. `patterns`: of these, what was written."""

    def __init__(self, sub_schemas: Sequence[SubSchema]) -> None:
        """`sub_schemas`: the document first."""
        self.patterns: dict[str, str] = {}
        self._found = sub_schemas
        self._by_rules = {id(sub_schema.rules): sub_schema for sub_schema in sub_schemas}
        whole = self._copied(sub_schemas[0].rules)
        self.document = {name: each for name, each in whole.items() if name not in _AT_THE_TOP}

    def _copied(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._copied(each) for each in value]
        if not isinstance(value, dict):
            return value
        kept = {name: self._copied(each) for name, each in value.items()}
        sub_schema = self._by_rules.get(id(value))
        return kept if sub_schema is None else self._rewritten(sub_schema, kept)

    def _rewritten(self, sub_schema: SubSchema, kept: dict[str, Any]) -> dict[str, Any]:
        if sub_schema.target is not None:
            kept[REF] = reference(self._found[sub_schema.target].place)
        if isinstance(kept.get(PATTERN), str):
            kept[PATTERN] = self._usable(kept[PATTERN], sub_schema)
        if isinstance(kept.get(PATTERNS), dict):
            named: dict[str, Any] = {}
            for name, each in kept[PATTERNS].items():
                said = self._usable(name, sub_schema)
                while said in named:  # two spellings of one pattern
                    said += "(?:)"
                named[said] = each
            kept[PATTERNS] = named
        return kept

    def _usable(self, pattern: str, sub_schema: SubSchema) -> str:
        said = usable(pattern, shown(sub_schema.place))
        self.patterns[said] = pattern
        return said
