"""Choose the memories that stand beside a conversation, without I/O, for `memory_injection`.

Memories stand in a prompt for two reasons. Standing ones are in every prompt: wishes before facts,
of each topic the newest, as many as their budget takes. Others fit the newest message, or were
shown before.

What was shown stays until it is deleted, expires or is crowded out, and stands in the order in
which it was saved. A line that comes and goes with each message would change the prompt each time,
and the provider would read all of it anew. Standing memories are chosen anew for each request: the
same memories give the same lines. So the text changes only where the set does.

Which found memory fits a message? In a language that the embedder knows well, its relevance
decides: 0.5 and more, a little more where there are more memories to be near by chance, less where
there are few, or where the two share a word that says something (`telling_words`). In another
language strangers are as near as what is meant, so the word decides. A message that asks about the
world is near to anything. docs/decisions/0094 has the figures.

Such a message asks for knowledge of the world, or for a text about anything, and shares a word with
a memory by chance. It is told from one of somebody who speaks of their own affairs:

    >>> is_general("Why do leaves fall in autumn?"), is_general("Where do I move in autumn?")
    (True, False)
    >>> is_general("Write an apology to a customer"), is_general("Write a letter to Mr Brandt")
    (True, False)

Where was a memory said, seen from the history of a request: in it, in another branch of the same
conversation, or in another conversation? A user who takes a message back, edits it or asks for
another answer leaves a branch behind. What was said there counts no more in this conversation; in a
new one it is as good as any other memory. The histories of both branches begin alike, so a memory
keeps the address of that beginning. What a history says itself is not said once more beside it: a
line that follows from the message before would change the prompt's beginning for nothing. But where
that message may be folded away, the history says it no more, and the memory stands.

Memories of job, place, version, port or plan may be out of date once they are old. A wish stays
what it is until somebody takes it back, and so does a taste.

    >>> may_change("User works at Initech."), may_change("User's blood type is A.")
    (True, False)
    >>> may_change("Der Nutzer plant einen Umzug."), may_change("User waters the plant.")
    (True, False)

Rules about words are kept by language. A pattern matches whole words in languages that set spaces
between them, and parts of words in the others.

    >>> bool(pattern("memory_changing", ("de",)).search("der nutzer plant einen umzug"))
    True
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import NamedTuple

from memtree.clock import DAY
from memtree.language.languages import LATIN, languages_of
from memtree.language.word_file import WordFile
from memtree.memories import prompt_lines
from memtree.memories.memory import SNAPSHOT, WORDING, Memory, MemorySource, PossibleUpdate
from memtree.memories.memory_store import ShownMemory
from memtree.memories.memory_topics import WISH
from memtree.memories.prompt_lines import Wish
from memtree.memories.user_memories import SCORE_THRESHOLD
from memtree.ranking.relevance_scale import CHANCE, HALF, STRONG
from memtree.text import tokens
from memtree.text.memory_lines import MOST, said

SPACED = (*LATIN, "ru")


@lru_cache(maxsize=128)
def pattern(
    file: str, languages: tuple[str, ...], *names: str, also: str = "(?!)"
) -> re.Pattern[str]:
    """Compile what `file` has in any of these languages in these sections (none: in all). `also`:
    what counts in every language."""
    alternatives = [also]
    for language in languages:
        data = WordFile(language, file)
        known = data.names()
        words = "|".join(data.part(name) for name in names or known if name in known)
        if words:
            alternatives.append(rf"\b(?:{words})\b" if language in SPACED else words)
    return re.compile("|".join(alternatives))


_READ = 400  # characters of a message


def is_general(message: str) -> bool:
    """Return True if nobody speaks of themselves in the message, and it begins as such questions
    do in its language, or asks for a text that is about nobody with a name."""
    head = " ".join(message[:_READ].split()).lstrip("¿¡«„“\"'( ")
    lower = head.lower()
    questions = partial(pattern, "memory_general_questions", languages_of(lower))
    if questions("own").search(lower):
        return False
    if questions("general").search(lower):
        return True
    named = any(word[0].isupper() for word in head.split()[1:])
    return not named and questions("writing").search(lower) is not None


READ = 400  # characters
_NUMBERED = r"\bv\d{1,4}\b|\b\d{1,3}\.\d{1,4}\.\d{1,5}\b"  # versions, in any language


def ages(memory: Memory, stale: float) -> float | None:
    """Return the unix seconds from which a memory may be out of date, None for never. `stale`:
    seconds after which those that change are, 0 for never."""
    if not stale or not may_change(memory.text, memory.category, memory.standing):
        return None
    return memory.said + stale


def is_outdated(memory: Memory, stale: float, now: float) -> bool:
    """Return True if a memory may be out of date at that time (unix seconds)."""
    since = ages(memory, stale)
    return since is not None and now >= since


def may_change(text: str, category: str | None = None, standing: str = "") -> bool:
    """Return True if a fact is of a kind that may change within months. `standing`: its topic."""
    if category in ("preference", "instruction") or standing.startswith("wish"):
        return False
    if category == "schedule":
        return True
    lower = " ".join(text[:READ].lower().split())
    return pattern("memory_changing", languages_of(lower), also=_NUMBERED).search(lower) is not None


# Relevance of a hit that shares a telling word with the message, where the embedder knows the
# language well, and elsewhere.
SHARING, SHARING_ABROAD = 0.33, 0.1
# Outside English, where the embedder knows the language: with 0.5 twice as many messages that
# concern no memory get one, for one right memory of forty more.
ALONE_ABROAD = 0.55
ALONE_GENERAL = 0.8  # of a question about the world: photosynthesis is near to who takes photos
GROWTH = 0.15  # more for each tenfold scope, less for a smaller one
USUAL, FEWEST = 50, 10  # memories of a scope that asks for no more and no less; where less ends
LEAST = 0.05  # what a search for injection is asked for: a word of a long message covers no more
NEW = 3  # hits of one message that may be shown
# Of the best hit's score that another one needs to stand beside it; where words alone rank.
BESIDE, BESIDE_BY_WORDS = 0.8, 0.7


class Message(NamedTuple):
    """A message as the rule knows it, to say how near a memory has to be. `memories`: how many the
    scope has. `known`: the embedder knows its language well. `by_words`: no vector says how near a
    memory is. `general`: it asks about the world. `english`: it is, or in no language."""

    memories: int
    known: bool = True
    by_words: bool = False
    general: bool = False
    english: bool = True

    def admits(self, relevance: float, *, shares_word: bool) -> bool:
        """Return True if a memory may stand beside it. `shares_word`: a telling word of both."""
        if self.by_words:
            return shares_word
        if shares_word:
            return relevance >= (SHARING if self.known else SHARING_ABROAD)
        plain = HALF if self.english else ALONE_ABROAD
        alone = ALONE_GENERAL if self.general else plain if self.known else CHANCE
        larger = math.log10(max(self.memories, FEWEST) / USUAL)
        return relevance >= min(STRONG, alone + GROWTH * larger)


@dataclass(frozen=True, slots=True)
class InjectionOptions:
    """The options of an injection. `most`: lines at a time. `threshold`: the relevance that a hit
    needs; None: what `Message.admits` says. `new`: most hits of one message; None: as many as
    lines. `near`: without a threshold, only hits near to the best. `category`: only memories of it.
    `line`: a memory as one line, empty where it cannot be shown. `wish`: what the message asks of
    the memory itself; a note of it is the last line."""

    most: int = MOST
    threshold: float | None = None
    category: str | None = None
    line: Callable[[Memory], str] = prompt_lines.line
    new: int | None = None
    near: bool = True
    wish: Wish | None = None

    @property
    def least(self) -> float:
        """The relevance below which a hit is of no use."""
        return LEAST if self.threshold is None else self.threshold

    def fits(self, relevance: float, message: Message, *, shares_word: bool) -> bool:
        """Return True if a hit may stand beside a message. `shares_word`: a telling word of
        both."""
        if self.threshold is not None:
            return relevance >= self.threshold
        return message.admits(relevance, shares_word=shares_word)

    def admits(self, memory: Memory) -> bool:
        """Return True if the memory may be shown at all."""
        return self.category is None or memory.category == self.category


CHAT_OPTIONS = InjectionOptions(new=NEW)


def threshold_of(setting: float) -> float | None:
    """Return the threshold that a setting means: the default leaves it to the rule, which knows
    more than a cosine."""
    return None if setting == SCORE_THRESHOLD else setting


KEPT = 30 * DAY  # seconds for which a shown set is kept after its last hit


class Choice(NamedTuple):
    """The chosen memories, by number. `shown`: what is known of them from now on; `changed`: it
    says other things than what is stored."""

    memories: tuple[Memory, ...]
    shown: tuple[ShownMemory, ...]
    changed: bool


def chosen(
    hits: Iterable[Memory],
    shown: Sequence[ShownMemory],
    live: Mapping[str, Memory],
    now: float,
    most: int = MOST,
    line: Callable[[Memory], str] = prompt_lines.line,
    away: Collection[str] = (),
) -> Choice:
    """Choose at most `most` memories: `hits` (best first) and, as far as there is room, those of
    `shown` that are in `live` still, the latest hits first. `line`: how one reads. `away`: ids of
    `live` that do not stand beside this branch of the conversation, and are remembered for the
    others."""
    fitting = _unlike([memory for memory in hits if memory.id not in away], line)
    fitting = _newest_values(fitting)[:most]
    taken = {memory.id for memory in fitting}
    older = [known for known in _latest(shown) if known.id in live and known.id not in taken]
    here = [live[known.id] for known in older if known.id not in away]
    memories = _newest_values([*fitting, *here])[:most]
    elsewhere = [live[known.id] for known in older if known.id in away][:most]
    before = {known.id: known.hit for known in shown}
    after = [
        ShownMemory(memory.id, memory.version, now if memory.id in taken else before[memory.id])
        for memory in sorted((*memories, *elsewhere), key=lambda memory: memory.number)
    ]
    return Choice(
        tuple(sorted(memories, key=lambda memory: memory.number)),
        tuple(after),
        _differ(shown, after),
    )


def _unlike(hits: Iterable[Memory], line: Callable[[Memory], str]) -> list[Memory]:
    """Return the hits that may be injected, of several that read the same the best."""
    by_line: dict[str, Memory] = {}
    for memory in hits:
        if is_shown(memory, line):
            by_line.setdefault(said(line(memory)), memory)
    return list(by_line.values())


def is_shown(memory: Memory, line: Callable[[Memory], str]) -> bool:
    """Return True if the memory may be shown at all. `line`: how one reads."""
    return memory.kind != SNAPSHOT and bool(line(memory))


def _newest_values(memories: Sequence[Memory]) -> list[Memory]:
    """Return the memories without those whose value another one here has changed. A tainted memory
    does not replace one that is not tainted."""
    over = {
        (update.id, memory.tainted)
        for memory in memories
        for update in memory.updates
        if _names_value(update)
    }
    return [m for m in memories if over.isdisjoint({(m.id, False), (m.id, m.tainted)})]


def _names_value(update: PossibleUpdate) -> bool:
    return bool(update.differs) and update.differs != (WORDING,)


def _latest(shown: Iterable[ShownMemory]) -> list[ShownMemory]:
    """Sort by latest hit; of equal ones the order stays."""
    return sorted(shown, key=lambda known: -known.hit)


def _differ(before: Sequence[ShownMemory], after: Sequence[ShownMemory]) -> bool:
    """Return True if `after` has to be stored. A hit alone is no reason, as long as the next one to
    be crowded out is the same: else each message would be a write."""
    if [known[:2] for known in before] != [known[:2] for known in after]:
        return True
    if [known.id for known in _latest(before)] != [known.id for known in _latest(after)]:
        return True
    newest = max((known.hit for known in after), default=0.0)
    return newest - max((known.hit for known in before), default=0.0) > DAY


SAME, STRICT, OFF = "same", "strict", "off"
BRANCHES = (SAME, STRICT, OFF)  # values of the setting `memories_branches`


def depends(source: MemorySource | None, rule: str) -> bool:
    """Return True if the rule needs to know where a memory was said."""
    return source is not None and bool(source.address) and rule != OFF


def fits(
    source: MemorySource | None,
    addresses: Container[str],
    rule: str,
    folded: Container[str] = (),
) -> bool:
    """Return True if a memory may stand beside a history. `addresses`: hex, of all its prefixes;
    `folded`: of those whose last message may be folded away. With `strict`, only beside one in
    which it was said; else not beside one that shows it, nor beside another branch of it."""
    if source is None or not depends(source, rule):
        return True
    if rule == STRICT:
        return source.address in addresses
    if source.address in addresses:
        return source.address in folded
    return source.origin not in addresses


def stands(source: MemorySource | None, addresses: Container[str], rule: str) -> bool:
    """Return True if a standing memory may stand beside a history, which may show it as well:
    unless it was said in another branch of it, or with `strict`, elsewhere."""
    if source is None or not depends(source, rule) or source.address in addresses:
        return True
    return rule != STRICT and source.origin not in addresses


def heirs(standing: Iterable[Memory], newer: Iterable[Memory]) -> list[Memory]:
    """Return those of `newer` that changed a value of a standing memory, or of another heir, and
    stand in its place. Tainted ones do not."""
    places = {memory.id for memory in standing}
    kept = []
    for memory in sorted(newer, key=lambda memory: memory.number):
        changes = {update.id for update in memory.updates if _names_value(update)}
        if not memory.tainted and memory.id not in places and not places.isdisjoint(changes):
            places.add(memory.id)
            kept.append(memory)
    return kept


STANDING_BUDGET = 300  # tokens of the lines of a request: of the user, then of the chat
OVERVIEW_BUDGET = 600  # tokens of the lines of a request that asks for all that is remembered
MOST_STANDING = 100  # that are read


def standing_ones(
    memories: Iterable[Memory], line: Callable[[Memory], str], budget: int = STANDING_BUDGET
) -> list[Memory]:
    """Return the standing memories that the budget takes, by number. `memories`: all of them, with
    the `heirs` that stand in their places. `line`: how one reads, "" where it cannot be shown."""
    newest = sorted(_newest_values(list(memories)), key=lambda memory: -memory.number)
    newest.sort(key=lambda memory: not memory.standing.startswith(WISH))
    seen: set[str] = set()
    kept: list[Memory] = []
    for memory in newest:
        if ":" in memory.standing and memory.standing in seen:
            continue
        cost = standing_size([memory], line)
        if not line(memory) or cost > budget:
            continue
        seen.add(memory.standing)
        budget -= cost
        kept.append(memory)
    return sorted(kept, key=lambda memory: memory.number)


def standing_size(memories: Iterable[Memory], line: Callable[[Memory], str]) -> int:
    """Count the tokens of the memories' lines."""
    return sum(tokens.count(line(memory)) + _NUMBER for memory in memories)


def overview(
    memories: Iterable[Memory], line: Callable[[Memory], str], budget: int
) -> list[Memory]:
    """Return the first memories that may be shown, as many as the budget of tokens takes, by their
    categories, and oldest first in each."""
    kept: list[Memory] = []
    for memory in memories:
        cost = standing_size([memory], line)
        if memory.kind == SNAPSHOT or not line(memory):
            continue
        budget -= cost
        if budget < 0:
            break
        kept.append(memory)
    return sorted(kept, key=lambda memory: (memory.category or "", memory.number))


_NUMBER = 4  # tokens of a line's number and its end
