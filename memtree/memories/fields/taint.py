"""Taint: which memories are shown as facts only, until a person confirms them.

Whoever writes a web page or a tool's output can have a model save what they like. A model's word
that something is to be done is not the user's word either. And what a person saved or confirmed
lends no trust to the text that a model puts in its place.
"""

from __future__ import annotations

from dataclasses import replace

from memtree.memories.memory import Memory, MemoryFields, NewMemory

PEOPLE = ("user", "extraction")  # source types of people's own words
_BY_MODEL = "model"  # the capture mode of what a model read in a conversation


def tainted(*, source_type: str, category: str | None, after_tool: bool) -> bool:
    """Return True if a memory is to be saved as tainted. `after_tool`: a tool or a web page spoke
    earlier in the turn. What a person saved is never tainted.

    >>> tainted(source_type="model", category="instruction", after_tool=False)
    True
    >>> tainted(source_type="user", category="instruction", after_tool=True)
    False
    """
    return source_type != "user" and (after_tool or category == "instruction")


def is_own_word(memory: MemoryFields) -> bool:
    """Return True if the text of a memory is a person's: saved by them, or found by rules in what
    they said."""
    return memory.source_type in PEOPLE and memory.capture_mode != _BY_MODEL


def in_place_of(new: NewMemory, old: Memory) -> NewMemory:
    """Return `new` as it may count in the place of `old`. A model's text neither stands in prompts
    nor loses a taint because of what it replaces, and in the place of a person's words, or of what
    a person made stand, it waits for a person."""
    if is_own_word(new):
        return new
    trusted = is_own_word(old) or bool(old.standing)
    return replace(new, tainted=new.tainted or old.tainted or trusted, standing="")
