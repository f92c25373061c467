"""The query of a request: the newest words of the user, not a dump that a tool printed."""

from __future__ import annotations

from memtree.conversation.history import History

REACH = 2_000  # characters of a text that say what is wanted; the rest is pasted material
INTENT = 600  # characters of the assistant's last text


def query_text(history: History, given: str | None = None) -> str:
    """The given query, or the newest user text; in an agent loop with the last intent behind it.

    The intent is what the assistant said and called last: it comes first, since an embedding
    reads only the beginning.
    """
    if given:
        return given
    backwards = range(len(history) - 1, -1, -1)
    request = next((at for at in backwards if history.asks(at)), None)
    text = ends(history.view(request).text) if request is not None else ""
    others = (at for at in backwards if history.facts[at].role != "user" or history.asks(at))
    newest = next(others, None)
    if newest is None or history.facts[newest].answers is None:
        return text
    said = next((at for at in backwards if history.facts[at].role == "assistant"), None)
    intent = history.view(said).text[:INTENT] if said is not None else ""
    return f"{intent}\n{text}".strip()


def ends(text: str, reach: int = REACH) -> str:
    """Return the ends of a text, which say what is wanted: a long message asks at its beginning or
    at its end."""
    return text if len(text) <= reach else f"{text[: reach // 2]}\n{text[-reach // 2 :]}"
