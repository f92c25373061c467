"""Translations of posted lists: which are found again, and what goes."""

from __future__ import annotations

from dataclasses import dataclass

from memtree.dialects.translation_cache import KnownTranslations


@dataclass(frozen=True, slots=True)
class Sized:
    nbytes: int = 100


def known(most: int = 10_000) -> KnownTranslations[Sized]:
    return KnownTranslations(most)


def kept(found: KnownTranslations[Sized], tenant: str = "t") -> list[int]:
    return [number for number in range(9) if found.get(tenant, number) is not None]


def test_a_list_is_found_by_its_number_and_its_tenant():
    found, one = known(), Sized()
    found.put("t", 1, one)
    assert found.get("t", 1) is one
    assert found.get("other", 1) is None
    assert found.get("t", 2) is None


def test_of_a_list_that_grows_the_newest_two_are_kept():
    found = known()
    for number in range(1, 5):
        found.put("t", number, Sized(), number - 1 or None)
    found.put("t", 4, Sized(), 4)  # posted again
    assert kept(found) == [3, 4]
    found.put("t", 5, Sized(), 3)  # another branch
    assert kept(found) == [3, 4, 5]


def test_all_together_take_no_more_bytes_than_they_may():
    found = known(most=2_000)
    for number in range(9):
        found.put("t", number, Sized())
        assert found.nbytes <= 2_000
    assert kept(found) == [5, 6, 7, 8]
    found.put("t", 1, Sized(3_000))
    assert kept(found) == [5, 6, 7, 8]


def test_what_was_used_last_goes_last():
    found = known(most=2_000)
    for number in range(4):
        found.put("t", number, Sized())
    assert found.get("t", 0)
    found.put("t", 4, Sized())
    assert kept(found) == [0, 2, 3, 4]


def test_a_deletion_drops_what_the_tenant_has():
    found = known()
    for tenant in "ab":
        found.put(tenant, 1, Sized())
    found.forget("a")
    assert (kept(found, "a"), kept(found, "b")) == ([], [1])
    found.forget()
    assert kept(found, "b") == []
    assert found.nbytes == 0
