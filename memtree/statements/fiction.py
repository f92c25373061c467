"""Recognise fiction: what a user writes there is true of nobody.

Fiction is stories, role-play, games, jokes and exercises. A play that began makes all later
messages fiction (`is_role_play`), and some messages are a story as a whole (`is_made_up`). In other
messages a sentence frames those around it: "In my story, ..." what follows, "that was a line of my
character" what stands before.

    >>> said = ["i'm the ceo.", "that was a line of my character.", "i live in graz."]
    >>> framed(list(zip((0, 0, 1), said)))
    {0, 1}
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memtree.language.word_file import WordFile, lazily
from memtree.text import speakers

_DATA = WordFile("all", "memory_fiction")

BEGINNING = 2_000  # characters that tell what kind of message it is
LAUGH = 20  # characters at the end of a sentence
_STAGE = lazily(r"\A\s{0,9}\*(?:i |he |she |they )?[a-z]+(?:s|ing)?\b[^*\n]{0,300}\*(?=\s|$)")
_PLAY = _DATA.pattern("play")
_STORY = _DATA.pattern("story", re.IGNORECASE)
_GAME = _DATA.pattern("game")
# Whose apples are counted is nobody.
_EXERCISE = _DATA.pattern("exercise", re.IGNORECASE)
_NUMBER = lazily(r"\d+")
_FRAMES = _DATA.pattern("frames")
# Who speaks is somebody else, before this sentence as well as behind it.
_SPEAKER = _DATA.pattern("speaker")
# Without one of these parts of words no sentence is a frame: a hundred times as fast to see.
_HINTS = _DATA.words("hints")
_LOOKS_BACK = _DATA.pattern("looks_back")
_KIDDING = _DATA.pattern("kidding")
_JOKE = _DATA.pattern("joke")
_IMPOSSIBLE_AGE = _DATA.pattern("impossible_age")
# "In the test my name is Foo."
_ELSEWHERE = _DATA.pattern("elsewhere")


def is_role_play(text: str, role: str = "user") -> bool:
    """Return True if a message (of the user, the assistant or the system) sets up or goes on with a
    play in which the user speaks for somebody else, from then on."""
    if role == "assistant":  # who explains a thing may speak of characters
        return _STAGE.match(text[:BEGINNING]) is not None
    return speakers.is_card(text) or sets_up_play(text[:BEGINNING])


def sets_up_play(head: str) -> bool:
    """Like `is_role_play`, for the beginning of a user's message that is no persona card."""
    return bool(_STAGE.match(head) or _PLAY.search(head.lower()))


def is_made_up(head: str) -> bool:
    """Return True if the beginning of a message is that of an exercise or a story."""
    exercise = _EXERCISE.search(head) and len(_NUMBER.findall(head)) > 1
    return bool(exercise or _STORY.search(head))


def is_fictional(lower: str) -> bool:
    """Return True if a sentence in lower case is told of a game, a dream or an example, or in
    jest."""
    if _ELSEWHERE.match(lower) or _IMPOSSIBLE_AGE.match(lower) or _JOKE.search(lower[-LAUGH:]):
        return True
    return _GAME.search(lower) is not None and "i play" not in lower


def framed(sentences: Sequence[tuple[int, str]]) -> set[int]:
    """The indexes of those that a frame makes fiction. `sentences`: the paragraph of each, and its
    text in lower case."""
    made: set[int] = set()
    whole = "\n".join(lower for _, lower in sentences)
    if not any(map(whole.__contains__, _HINTS)):
        return made
    start = 0  # of the paragraph
    for at, (paragraph, lower) in enumerate(sentences):
        if paragraph != sentences[start][0]:
            start = at
        speaker = _SPEAKER.search(lower)
        if speaker:
            made.update(range(start, at + 1))
        if _FRAMES.match(lower) or (speaker and not _LOOKS_BACK.match(lower)):
            return made.union(range(at, len(sentences)))
        if _KIDDING.search(lower):
            made.update((max(at - 1, 0), at))
    return made
