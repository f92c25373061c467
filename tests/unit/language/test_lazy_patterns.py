"""A lazy pattern is the compiled one, from its first use on."""

from __future__ import annotations

import importlib
import pkgutil
import re

import pytest

import memtree
from memtree.language.word_file import LazyPattern, lazily


def test_it_finds_what_the_pattern_finds():
    text, source = "a1 B22 c333", r"([a-z])(\d+)"
    pattern, compiled = lazily(source, re.IGNORECASE), re.compile(source, re.IGNORECASE)
    for _ in range(2):
        assert pattern.findall(text) == compiled.findall(text)
        assert [m.span() for m in pattern.finditer(text)] == [
            m.span() for m in compiled.finditer(text)
        ]
        assert pattern.sub("-", text) == compiled.sub("-", text)
        assert pattern.split(text) == compiled.split(text)
    assert (pattern.pattern, pattern.flags, pattern.groups) == (source, compiled.flags, 2)


def test_it_is_compiled_once_and_not_before(monkeypatch):
    compiled = []
    real = re.compile
    monkeypatch.setattr(re, "compile", lambda *of: compiled.append(of) or real(*of))
    pattern = lazily("x+")
    assert not compiled
    assert pattern.match("xx")
    assert pattern.search("yx")
    assert len(compiled) == 1


def test_its_words_are_read_at_the_first_use():
    read = []
    pattern = lazily(lambda: read.append("words") or "cat|dog", re.IGNORECASE)
    assert not read
    assert [bool(pattern.search(text)) for text in ("A Cat", "a cow")] == [True, False]
    assert read == ["words"]


def test_a_mistake_is_found_at_the_first_use():
    with pytest.raises(re.error):
        lazily("(").match("")


@pytest.mark.slow
def test_every_lazy_pattern_of_ours_can_be_compiled():
    found = 0
    for module in pkgutil.walk_packages(memtree.__path__, "memtree."):
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, LazyPattern):
                assert value.pattern is not None
                found += 1
    assert found > 50
