"""Choose the query of a request: the user's newest words, not the output of a tool."""

from __future__ import annotations

from memtree.conversation.history import History

REACH = 2_000  # characters of a text used as the query; the rest is mostly pasted material
INTENT = 600  # characters of the assistant's last text


def query_text(history: History, given: str | None = None) -> str:
    """Return the given query, or the newest user text, in an agent loop after the last intent.

    The intent is the assistant's last text and tool calls: it comes first, since an embedding
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
    """Return the beginning and end of a text, since a long message makes its request at one of
    them."""
    return text if len(text) <= reach else f"{text[: reach // 2]}\n{text[-reach // 2 :]}"
