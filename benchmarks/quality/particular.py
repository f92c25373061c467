"""Tell whether a summary line says something that is particular to its range.

Particular are a number, an identifier or path, a name, and a word that is rare: among the lines
beside it, and in the rest of the conversation. Names of those who speak, and words that every chat
has, are not.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from memtree.history.message import Message
from memtree.text.terms import STOP_WORDS

BLOCK = 10  # messages
RARE, SELDOM = 0.15, 0.1  # of the blocks of a conversation; of the lines beside this one
LEAST = 2  # blocks: a rare word may stand in so many even in a short conversation
LONG = 3  # characters of a word
_WORD = re.compile(r"[^\W_][\w'’./@#-]*[\w]|\w")
_SPEAKER = re.compile(r"(?:^|; |\n)([^\W\d_][\w'’.-]*(?: [^\W\d_][\w'’.-]*)?): ")
_IDENTIFIER = re.compile(r"\w[_/.@#]\w|[a-z][A-Z]|^[A-Z]{2,}\w*$")
_FOREIGN = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_CHATTY = frozenset(
    """
    actually agree alright always amazing awesome bad bet big bit came come cool crazy damn
    definitely didnt doesnt done dont dude else even ever every exactly feel feels felt fine fun
    funny gonna good got gotta great guess guy guys haha happy hard hear heard hello hey hope
    huh idk ill interesting ive just kind kinda knew know knows last let like liked little lmao
    lol long look looks lot lots love made make makes man maybe mean means might much need never
    new nice nope okay omg one ones people pretty probably quite really right sad said same say
    says see seems seen sorry sound sounds still stuff sure take talk tbh tell thank thanks
    thats thing things think thought time today told totally tried true try trying understand
    usually very want wanted wants was wasnt way weird well went whatever whats whole wish
    wonder wonderful work works worry would wow yay yea yeah year yep yes yet youre yup
    """.split()
)


class Particular:
    """One conversation, in which words are rare or not."""

    def __init__(self, messages: Sequence[Message]) -> None:
        blocks = [
            "\n".join(message.text for message in messages[at : at + BLOCK])
            for at in range(0, len(messages), BLOCK)
        ]
        self._blocks = len(blocks)
        self._held = Counter(word for block in blocks for word in set(_words(block)))
        text = "\n".join(blocks)
        self._speakers = (
            {part.casefold() for name in _SPEAKER.findall(text) for part in name.split()}
            if sum(": " in m.text[:40] for m in messages) > len(messages) / 2
            else set()
        )
        self._plain = {word for word in _WORD.findall(text) if word[:1].islower()}

    def says(self, line: str, beside: Sequence[str]) -> bool:
        """Return True if a line holds something particular; `beside`: the other lines under its
        parent."""
        often = Counter(word for other in beside for word in set(_words(other)))
        most = max(1, int(SELDOM * len(beside)))
        return any(
            self._is_particular(word) and often[_key(word)] <= most for word in _WORD.findall(line)
        )

    def _is_particular(self, word: str) -> bool:
        key = _key(word)
        if key in self._speakers or key in STOP_WORDS or key in _CHATTY:
            return False
        if any(sign.isdigit() for sign in word) or _IDENTIFIER.search(word):
            return True
        if _FOREIGN.search(word):
            return True
        if len(key) < LONG:
            return False
        if word[:1].isupper() and word.lower() not in self._plain:
            return True  # a name: it is never written small
        return self._held[key] <= max(LEAST, RARE * self._blocks)


def _words(text: str) -> Iterator[str]:
    return map(_key, _WORD.findall(text))


def _key(word: str) -> str:
    return word.casefold().replace("'", "").replace("’", "")
