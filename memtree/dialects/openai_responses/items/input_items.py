"""Posted items, and the known translations of earlier lists."""

from __future__ import annotations

from dataclasses import dataclass

from memtree.dialects.known_translations import KnownTranslations
from memtree.dialects.openai_responses.items.input_item import InputItem, read_item
from memtree.dialects.openai_responses.translation import TranslatedItems
from memtree.dialects.raw_items import RawItems
from memtree.dialects.translation_cache import TranslationCache

INPUT = "input"

ItemCache = TranslationCache[InputItem]


class InputItems:
    """Items of a list, each read at first access."""

    __slots__ = ("_cache", "_found", "_since", "raws", "tenant")

    def __init__(self, raws: RawItems, tenant: str, cache: ItemCache) -> None:
        self.raws = raws
        self.tenant, self._cache, self._since = tenant, cache, cache.deletions
        self._found: dict[int, InputItem] = {}

    def __getitem__(self, index: int) -> InputItem:
        """Return the item at an index. Raises `BadRequest` with the unreadable place."""
        item = self._found.get(index)
        if item is None:
            raw = self.raws[index]
            item = self._cache.get(self.tenant, raw)
            if item is None:
                item = read_item(raw, f"{INPUT}[{index}]")
                self._cache.put(self.tenant, raw, item, item.size, self._since)
            self._found[index] = item
        return item

    def key(self, text: bytes) -> bytes:
        """Return the cache key of an item's text, for this tenant."""
        return self._cache.keys.of(self.tenant, text)


@dataclass(frozen=True, slots=True)
class KnownInput:
    """Translation of an earlier input. `listed`: the number that identifies its canonical list;
    `leading`: keys of the messages of no item."""

    translated: TranslatedItems
    listed: int
    leading: tuple[bytes, ...]

    @property
    def nbytes(self) -> int:
        return self.translated.nbytes


KnownInputs = KnownTranslations[KnownInput]
