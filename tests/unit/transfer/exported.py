"""Memories with everything that an export may hold of them."""

from __future__ import annotations

from hypothesis import strategies as st

from memtree.memories.memory import EntityMention, Memory, MemorySource, Tombstone
from memtree.memories.memory_store import MemoryRecord

# Microseconds are kept, what is finer is not.
MOMENTS = st.integers(1, 4_000_000_000_000_000).map(lambda micros: micros / 1_000_000)
WORDS = st.text(st.characters(blacklist_categories=("Cs", "Cc")), min_size=1, max_size=30).filter(
    lambda text: text == text.strip() != ""
)
NAMES = st.from_regex(r"[a-z]{1,9}", fullmatch=True)
IDS = st.integers(0, 99).map(lambda number: f"mem_{number:024x}")
SOURCES = st.builds(
    MemorySource,
    message=NAMES,
    start=st.integers(0, 99),
    end=st.integers(0, 99),
    digest=st.sampled_from(["", "ab" * 16]),
    address=st.sampled_from(["", "cd" * 32]),
    origin=st.sampled_from(["", "ef" * 32]),
    recorded=st.none() | MOMENTS,
)
MENTIONS = st.builds(EntityMention, WORDS, st.sampled_from(["person", "place"]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**62), 2**62) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)


@st.composite
def records(draw: st.DrawFn) -> MemoryRecord:
    id_, last = draw(IDS), draw(st.integers(1, 4))
    *versions, memory = [_version(draw, id_, number) for number in range(1, last + 1)]
    links = {
        name: draw(st.none() | IDS) for name in ("supersedes", "superseded_by", "duplicate_of")
    }
    left = (
        Tombstone(id_, 0, draw(MOMENTS), draw(st.sampled_from(["", "moved"])), memory.text, "mem_x")
        if draw(st.booleans())
        else None
    )
    replaced = draw(st.none() | MOMENTS)
    return MemoryRecord(_linked(memory, links), tuple(versions), left, replaced)


def _version(draw: st.DrawFn, id_: str, version: int) -> Memory:
    return Memory(
        id=id_,
        number=draw(st.integers(1, 99)),
        text=draw(WORDS),
        created=draw(MOMENTS),
        updated=draw(MOMENTS),
        kind=draw(st.sampled_from(["", "snapshot"])),
        data=draw(st.none() | st.dictionaries(NAMES, VALUES, min_size=1, max_size=3)),
        category=draw(st.none() | NAMES),
        tags=tuple(draw(st.lists(NAMES, max_size=3, unique=True))),
        source_type=draw(st.sampled_from(["user", "model", "extraction", "import"])),
        source_provider=draw(st.none() | NAMES),
        importance=draw(st.sampled_from([0.0, 0.25, 0.5, 1.0])),
        capture_mode=draw(st.none() | NAMES),
        session_id=draw(st.none() | NAMES),
        thread_id=draw(st.none() | NAMES),
        expires=draw(st.none() | MOMENTS),
        last_confirmed=draw(st.none() | MOMENTS),
        tainted=draw(st.booleans()),
        source=draw(st.none() | SOURCES),
        version=version,
        confidence=draw(st.sampled_from([0.0, 0.75, 1.0])),
        happened=draw(st.none() | MOMENTS),
        mentions=tuple(draw(st.lists(MENTIONS, max_size=2))),
    )


def _linked(memory: Memory, links: dict[str, str | None]) -> Memory:
    values = {name: getattr(memory, name) for name in Memory.__slots__}
    return Memory(**{**values, **links})
