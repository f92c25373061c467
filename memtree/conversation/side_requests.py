"""Side requests: what a client asks for itself over its conversation, beside the chat.

The compaction call over the whole history, titles, tags, commit messages, better wordings of a
prompt, the question who speaks next. Their answers never come back as a turn of this history, so
nothing of them is worth keeping, and a summary is only as good as what it was made from.

Judged by what the request says, not by who sends it: an *order* (to summarise, to name, ...) that
opens the system prompt or the newest message, with signs that a program gives it, namely that
another model is to go on from the answer, or that its form is prescribed. "Summarize what we did
today" is a turn like any other.

    >>> order = "Summarize our conversation. Another agent will continue from your summary."
    >>> is_side([Message.of({"role": "user", "content": order})], tools=False)
    True

Looks at the first three messages and the newest one, some kB of each, whatever the length.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from memtree.conversation.message import (
    SYSTEM_ROLES,
    TEXT_PARTS,
    Message,
    Volatile,
    check_message,
)

LEADING = 3  # messages looked at from the front
OPENING = 700  # characters of a system prompt in which its order stands
HEAD, TAIL = 2_500, 4_000  # characters of the newest message: an order stands before or after data
PARTS = 4  # text parts of the newest message, the last ones
# Points for signs. A message without a history is sent whole anyway: less is lost by an error.
ENOUGH, ENOUGH_ALONE = 2, 1

_VOLATILE = Volatile()

_TALK = (
    r"(?:(?:conversations?|chats?|sessions?|discussions?|dialogues?|transcripts?|threads?"
    r"|histor(?:y|ies)|(?:previous|prior|earlier|above|new|following|these|of|chat) messages"
    r"|messages (?:above|below)|interactions?|context window"
    r"|(?:story|roleplay|events) so far)"
    # and not the first half of another noun, as in "the session handler"
    r"(?=\s*(?:[.,:;!?)\n*<]|$)|\s+(?:so|above|below|in|into|to|for|between|with|without|that|which"
    r"|provided|up|until|as|and|from|based|before|while|using|briefly|histor(?:y|ies)|lines"
    r"|about|we|you|is|was|has|of (?:previous|messages))\b))"
)
_MADE = (
    r"(?:summar(?:y|ies)|recap|synopsis|hand-?off|checkpoint|snapshot|compaction|compression"
    r"|continuation (?:note|prompt)|prompt for continuing|prompt to continue)"
)
_VERBS = (
    r"(?:summari[sz](?:e|es|ing)|condens(?:e|es|ing)|compact(?:s|ing)?|compress(?:es|ing)?"
    r"|distill?(?:s|ing)?)"
)
_MAKE = (
    r"(?:creat(?:e|es|ing)|provid(?:e|ing)|writ(?:e|es|ing)|generat(?:e|es|ing)|produc(?:e|es|ing)"
    r"|mak(?:e|ing)|giv(?:e|ing)|draft|compile|output|prepar(?:e|ing)|perform(?:ing)?|build(?:ing)?"
    r"|updat(?:e|ing)|maintain(?:ing)?|extend|merge|extract)"
)
# What may stand between the beginning of a sentence and its verb.
_LEAD = (
    r"(?:(?:please|now|then|next|first|instead|immediately|kindly|and|so|\*?briefly\*?|progressively)"
    r",? ){0,4}"
    r"(?:(?:your|the)(?: \w+)? (?:task|job|goal|role|objective)(?: now)? is(?: to)? "
    r"|you(?: are|'re| have been| will be) (?:now )?"
    r"(?:tasked with |asked to |given a task to |to )?"
    r"|you (?:must|need to|should|will|have to) |i (?:need|want) you to |(?:can|could|would) you )?"
    r"(?:(?:please|now|\*?briefly\*?) ){0,2}"
)
_BEGIN = r"(?:^|(?<=[.!?:] )|(?<=\n))[ \t#>*\-]{0,12}"
_NEAR = r"[^.!?\n]{0,110}?"

_SUMMARY = re.compile(
    rf"{_BEGIN}{_LEAD}"
    rf"(?:{_VERBS}\b{_NEAR}\b(?:{_TALK}|into an? (?:[\w\-]+ ){{0,3}}?summary\b)"
    rf"|{_MAKE} (?:[\w,'\-]+ ){{0,7}}?{_MADE}\b)",
    re.IGNORECASE,
)
# fmt: off
_SUMMARY_WORDS = (
    "summar", "condens", "compact", "compress", "distil", "recap", "synopsis", "handoff",
    "hand-off", "checkpoint", "snapshot", "continu",
)
_MARK_WORDS = ("context_summary", "context checkpoint", "speak next", "this prompt", "extraction")
# fmt: on
_TITLE = re.compile(
    rf"{_BEGIN}{_LEAD}{_MAKE} (?:[\w,'\-]+ ){{0,7}}?(?:titles?|names?|topics?|subject line|tags?)\b"
    rf"{_NEAR}\b(?:{_TALK}|first message\b|user(?:'s)? message\b)",
    re.IGNORECASE,
)
_COMMIT = re.compile(
    rf"{_BEGIN}{_LEAD}{_MAKE} (?:[\w,'\-]+ ){{0,7}}?commit messages?\b", re.IGNORECASE
)
# The opening of a system prompt may say what the model *is*.
_ROLE = re.compile(
    rf"\byou(?: are|'re) (?:[\w,'\-]+ ){{0,9}}?"
    rf"(?:{_VERBS}\b{_NEAR}\b{_TALK}|(?:conversation|context|chat|dialogue|thread)[ -]"
    rf"(?:summar\w+|compact\w+|compress\w+|title)\b|title generator\b|that summari[sz]es\b)",
    re.IGNORECASE,
)
# Words that no person types to a model in a chat: known clients, and what is copied from them.
_MARKED = re.compile(
    r"""<explicit_instructions\ type="(?:summarize_task|condense)"
    |<state_snapshot>|<context_summary>|\bcontext\ checkpoint\ compaction\b
    |\bwho\ should\ (?:logically\ )?speak\ next\b
    |\bgenerate\ an\ enhanced\ version\ of\ this\ prompt\b
    |\bcontext\ extraction\ assistant\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_TASK = re.compile(r"\s*#{1,3} Task:?\s", re.IGNORECASE)
_CHAT_HISTORY = re.compile(r"</?chat_history>|^#{1,3} Chat History", re.IGNORECASE | re.MULTILINE)

# Signs that the answer is for a program, or for a model that knows nothing else.
_GOES_ON = (
    r"\banother (?:\w+ )?(?:llm|agent|model|assistant|ai|instance|developer)\b",
    r"\b(?:next|new|fresh|future) "
    r"(?:llm|agent|model|assistant|session|conversation|chat|instance)\b",
    r"\bwithout losing (?:\w+ )?(?:context|information|progress|details)",
    r"\bcontext (?:window|limit|length)|\bout of context|\bfuture context|\btoken limit",
    r"\bcontinu\w+ (?:\w+ ){0,4}?"
    r"(?:work|task|development|conversation|discussion|story|seamlessly)",
    r"\breplac\w+ (?:\w+ ){0,4}?(?:history|conversation|messages)",
    r"\b(?:only|sole) (?:\w+ )?(?:memory|context|record)\b",
    r"\bresum(?:e|es|ing) (?:\w+ ){0,3}?(?:work|task|conversation)",
    r"\bfor continuation\b|\bhand-?off\b|\b(?:single|one) summary message\b",
)
_FORM = (
    r"\b(?:only|nothing but|just) (?:\w+ ){0,4}?(?:summary|title|snapshot|tags|json)\b",
    r"\b(?:do not|don't|never) (?:call|use|invoke) (?:any )?tools?\b|\btext only\b",
    r"\b(?:exact|following) (?:format|structure|sections|output)|\bas follows:?$",
    r"<(?:analysis|summary|scratchpad|previous[-_]summary|conversation|thinking|chat_history)>",
    r"\bprimary request and intent\b|\bkey (?:technical concepts|decisions)\b",
    r"\bpending tasks\b|\bnext steps\b",
    r"\bmust include\b|\bpreserv\w+\b",
    r"\b(?:\d+|three|four|five|six|ten)(?:[- ](?:to|or)?[- ]?\w+)?[- ](?:words?|characters?)\b",
    r"\bsingle line\b|\btitle case\b|\bstraight to the title\b|\bjson\b",
    r"\b(?:no|without|omitting) (?:[\w\-]+,? ){0,3}?"
    r"(?:quotes|quotation marks|punctuation|explanations?)\b",
    r"\b(?:previous|prior|existing)[ -]summary\b",
)
_GOES_ON_SIGNS = tuple(re.compile(sign, re.IGNORECASE) for sign in _GOES_ON)
_FORM_SIGNS = tuple(re.compile(sign, re.IGNORECASE | re.MULTILINE) for sign in _FORM)


def is_side(messages: Sequence[Message], *, tools: bool) -> bool:
    """Return True if the request is the client's own. `messages`: as posted, system messages
    included. `tools`: whether the request carries any. Raises `BadRequest` where a message that is
    looked at has not the shape that the API documents."""
    if not messages:
        return False
    for index in {*range(len(messages))[:LEADING], len(messages) - 1}:
        check_message(messages[index], f"messages[{index}]")
    newest = messages[-1]
    if tools and newest.role not in ("user", *SYSTEM_ROLES):
        return False  # an agent at work
    leading = _leading(messages)
    if any(map(_opens, leading)):
        return True
    if newest.role in SYSTEM_ROLES and len(leading) == len(messages):
        return False
    alone = not any(m.role == "assistant" for m in messages[:LEADING]) and len(messages) <= LEADING
    return any(_asks(text, alone) for text in _newest(newest))


def _leading(messages: Sequence[Message]) -> list[str]:
    openings = []
    for message in messages[:LEADING]:
        if message.role not in SYSTEM_ROLES:
            break
        openings.append(message.words)
    return openings


def _newest(message: Message) -> list[str]:
    """The windows of the newest message: its last text parts, without what clients put in."""
    if message.role not in ("user", *SYSTEM_ROLES):
        return []
    texts = [part["text"] for part in message.parts if part["type"] in TEXT_PARTS]
    return [_VOLATILE.strip(_window(text)) for text in texts[-PARTS:]]


def _window(text: str) -> str:
    return text if len(text) <= HEAD + TAIL else f"{text[:HEAD]}\n\n{text[-TAIL:]}"


class _Order(NamedTuple):
    """A pattern, and words without one of which it cannot match: found 15 times as fast."""

    pattern: re.Pattern[str]
    words: tuple[str, ...]

    def stands_in(self, text: str) -> bool:
        low = text.lower()
        return any(word in low for word in self.words) and bool(self.pattern.search(text))


_SUMMARISES = _Order(_SUMMARY, _SUMMARY_WORDS)
_NAMES = _Order(_TITLE, ("title", "name", "topic", "subject line", "tag"))
_COMMITS = _Order(_COMMIT, ("commit message",))
_MARKS = _Order(_MARKED, ("explicit_instructions", "state_snapshot", *_MARK_WORDS))


def _opens(text: str) -> bool:
    """Return True if the opening of a system prompt makes the model do one of these things."""
    text = text[:OPENING]
    orders = (_SUMMARISES, _NAMES, _COMMITS, _MARKS)
    return any(sign.stands_in(text) for sign in orders) or bool(_ROLE.search(text))


def _asks(text: str, alone: bool) -> bool:
    """`alone`: nothing stands before the message, so all that may be asked about is in it."""
    if _MARKS.stands_in(text) or (_TASK.match(text) and _CHAT_HISTORY.search(text)):
        return True
    if alone and _COMMITS.stands_in(text):
        return True
    if not (_SUMMARISES.stands_in(text) or _NAMES.stands_in(text)):
        return False
    points = 2 * _count(_GOES_ON_SIGNS, text) + _count(_FORM_SIGNS, text)
    return points >= (ENOUGH_ALONE if alone else ENOUGH)


def _count(signs: Sequence[re.Pattern[str]], text: str) -> int:
    return sum(1 for sign in signs if sign.search(text))
