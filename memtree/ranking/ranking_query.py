"""Choose what the passages of a history are ranked for.

That is the user's newest words, and in an agent loop also what the agent said and called last;
never the output of a tool.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from memtree.digests.call_fields import groups
from memtree.history.chat_history import History
from memtree.text.request_words import is_acknowledgement

REACH = 2_000  # characters of a text used as the query; the rest is mostly pasted material
SAID = 600  # characters of the assistant's last text
CALLED = 600  # characters of all calls of a message
ROUNDS = 3  # newest messages of the assistant that are read
REQUESTS = 20  # newest messages of the user, among which is one that asks for something


@dataclass(frozen=True, slots=True)
class Query:
    """`words`: the text whose words passages should share; empty if nothing is asked. `meanings`:
    texts that they should be near to, each embedded by itself, since an embedding reads only the
    beginning of a text and blurs what a text has of several subjects."""

    words: str
    meanings: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> Query:
        return cls(text, (text,))


def query_of(history: History, given: str | None = None) -> Query:
    """Return the given query, or the newest user text. In an agent loop these are the words of that
    text, of the assistant's last text and of its last calls, and the meanings of the latter two,
    since the request is the same in every turn. There an acknowledgement ("continue") stands for
    the request before it."""
    if given:
        return Query.of(given)
    requests = islice((at for at in _backwards(history) if history.asks(at)), REQUESTS)
    request = next(requests, -1)
    newest = ends(history.view(request).own) if request >= 0 else ""
    if is_acknowledgement(newest):  # only then are older requests looked for
        own = (at for at in requests if not is_acknowledgement(history.view(at).text))
        request = next(own, -1)
    if all(fact.answers is None for fact in history.facts[request + 1 :]):
        return Query.of(newest)
    text = ends(history.view(request).own) if request >= 0 else ""
    agent = (at for at in _backwards(history, request) if history.facts[at].role == "assistant")
    rounds = list(islice(agent, ROUNDS))
    said = next((said for at in rounds if (said := _said(history, at))), "")
    called = "\n".join(filter(None, (_called(history, at) for at in rounds)))
    intent = tuple(filter(None, (said, called)))
    return Query("\n".join(filter(None, (text, *intent))), intent or (text,))


def ends(text: str, reach: int = REACH) -> str:
    """Return the beginning and end of a text, since a long message makes its request at one of
    them."""
    return text if len(text) <= reach else f"{text[: reach // 2]}\n{text[-reach // 2 :]}"


def _backwards(history: History, after: int = -1) -> Iterator[int]:
    return iter(range(len(history) - 1, after, -1))


def _said(history: History, at: int) -> str:
    view = history.view(at)
    texts = (view.text[part.start : part.end] for part in view.segments if part.kind == "text")
    return "".join(texts)[:SAID].strip()


def _called(history: History, at: int) -> str:
    """Return the names of a message's calls with the values of their arguments, an equal number of
    characters of each call."""
    calls = history.messages[at].calls
    room = CALLED // max(1, len(calls))
    return "\n".join(_values(call.name, call.arguments[: 2 * room])[:room] for call in calls)


def _values(name: str, arguments: str) -> str:
    values = (field.text for group in groups(arguments) for field in group.values())
    return " ".join(dict.fromkeys([name, *values]))
