"""Recognise messages that only acknowledge."""

from __future__ import annotations

import re

_WORD = re.compile(r"[^\W\d_]+", re.UNICODE)
_ACKNOWLEDGING = frozenset(
    """a agreed ahead all alright and awesome best bye cheers continue cool correct do done exactly
    excellent fine for go good got great ha haha hello hey hi hmm i it its job just keep k lgtm
    like lol looks love makes me much nice nope no now of ok okay on perfect please proceed ready
    really right s same sense so sounds splendid sure thank thanks that the then this thx to too
    try u understood very want wonderful works wow yeah yep yes you
    ja nein danke gut weiter genau bitte oui non merci bien sí si gracias vale sim não obrigado
    да нет спасибо хорошо 好 好的 谢谢 是 是的 继续 はい ありがとう 네 감사합니다""".split()
)
_MOST = 8  # words
_SHORT = 120  # characters
_ASKING = re.compile(r"[?？؟\d]")


def is_acknowledgement(text: str) -> bool:
    """Return True if a message asks for nothing: "ok, thanks", "sounds good, go ahead"."""
    if len(text) > _SHORT or _ASKING.search(text):
        return False
    words = _WORD.findall(text.lower())
    return len(words) <= _MOST and all(word in _ACKNOWLEDGING for word in words)
