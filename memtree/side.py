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

Looks at the first three and the last two messages, some kB of each, whatever the history's length.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memtree.message import SYSTEM_ROLES, Message, Volatile

LEADING, TRAILING = 3, 2  # messages looked at on either side
OPENING = 700  # characters of a system prompt in which its order stands
HEAD, TAIL = 2_500, 4_000  # characters of the newest message: an order stands before or after data
PARTS = 4  # text parts of the newest message, the last ones
ENOUGH = 2  # points for signs, where an ordinary turn could look the same

_VOLATILE = Volatile()

_TALK = (
    r"(?:conversations?|chats?|sessions?|discussions?|dialogues?|transcripts?|threads?|histor(?:y|ies)"
    r"|(?:previous|prior|earlier|above|new|following|these|of) messages|messages (?:above|below|in)"
    r"|chat messages|interactions?|(?:story|roleplay|events) so far|context window)"
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
    r",? )*"
    r"(?:(?:your|the)(?: \w+)? (?:task|job|goal|role|objective)(?: now)? is(?: to)? "
    r"|you(?: are|'re| have been| will be) (?:now )?"
    r"(?:tasked with |asked to |given a task to |to )?"
    r"|you (?:must|need to|should|will|have to) |i (?:need|want) you to |(?:can|could|would) you )?"
    r"(?:(?:please|now|\*?briefly\*?) )*"
)
_BEGIN = r"(?:^|(?<=[.!?:;,] )|(?<=[.!?:]\n)|(?<=\n))[ \t#>*\-]*"
_NEAR = r"[^.!?\n]{0,110}?"

_SUMMARY = re.compile(
    rf"{_BEGIN}{_LEAD}"
    rf"(?:{_VERBS}\b{_NEAR}\b{_TALK}\b|{_MAKE} (?:[\w,'\-]+ ){{0,7}}?{_MADE}\b)",
    re.IGNORECASE,
)
_TITLE = re.compile(
    rf"{_BEGIN}{_LEAD}{_MAKE} (?:[\w,'\-]+ ){{0,7}}?(?:titles?|names?|topics?|subject line|tags?)\b"
    rf"{_NEAR}\b(?:{_TALK}|first message|user(?:'s)? message|chat)\b",
    re.IGNORECASE,
)
_COMMIT = re.compile(
    rf"{_BEGIN}{_LEAD}{_MAKE} (?:[\w,'\-]+ ){{0,7}}?commit messages?\b", re.IGNORECASE
)
# The opening of a system prompt may say what the model *is*.
_ROLE = re.compile(
    rf"\byou(?: are|'re) (?:[\w,'\-]+ ){{0,9}}?"
    rf"(?:{_VERBS}\b{_NEAR}\b{_TALK}\b|(?:conversation|context|chat|dialogue|thread)[ -]"
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
    r"\bwithout losing (?:any )?(?:context|information|progress)",
    r"\bcontext (?:window|limit|length)|\bout of context|\bfuture context|\btoken limit",
    r"\bcontinu\w+ (?:\w+ ){0,4}?"
    r"(?:work|task|development|conversation|discussion|story|seamlessly)",
    r"\breplac\w+ (?:\w+ ){0,4}?(?:history|conversation|messages)",
    r"\b(?:only|sole) (?:\w+ )?memory\b",
    r"\bresum(?:e|es|ing) (?:\w+ ){0,3}?(?:work|task|conversation)",
    r"\bfor continuation\b|\bhand-?off\b",
)
_FORM = (
    r"\b(?:only|nothing but|just) (?:\w+ ){0,4}?(?:summary|title|snapshot|tags|json)\b",
    r"\b(?:do not|don't|never) (?:call|use|invoke) (?:any )?tools?\b|\btext only\b",
    r"\b(?:exact|following) (?:format|structure|sections|output)|\bas follows:?$",
    r"<(?:analysis|summary|scratchpad|previous[-_]summary|conversation|thinking|chat_history)>",
    r"\bprimary request and intent\b|\bkey (?:technical concepts|decisions)\b",
    r"\bpending tasks\b|\bnext steps\b",
    r"\bsummary message\b|\bmust include\b|\bpreserv\w+\b",
    r"\b(?:\d+|three|four|five|six|ten)(?:[- ](?:to|or)?[- ]?\w+)?[- ](?:words?|characters?)\b",
    r"\bsingle line\b|\btitle case\b|\bstraight to the title\b|\bjson\b",
    r"\b(?:no|without|omitting) (?:\w+ )?(?:quotes|quotation marks|punctuation|explanations?)\b",
)
_GOES_ON_SIGNS = tuple(re.compile(one, re.IGNORECASE) for one in _GOES_ON)
_FORM_SIGNS = tuple(re.compile(one, re.IGNORECASE | re.MULTILINE) for one in _FORM)


def is_side(messages: Sequence[Message], *, tools: bool) -> bool:
    """Whether the request is the client's own. `messages`: as posted and checked, system messages
    included. `tools`: whether the request carries any."""
    if not messages:
        return False
    newest = messages[-1]
    if tools and newest.role not in ("user", *SYSTEM_ROLES):
        return False  # an agent at work
    leading = _leading(messages)
    if any(_orders(text[:OPENING]) or _ROLE.search(text[:OPENING]) for text in leading):
        return True
    if newest.role in SYSTEM_ROLES and len(leading) == len(messages):
        return False
    alone = not any(m.role == "assistant" for m in messages[:LEADING]) and len(messages) <= LEADING
    return any(_asks(text, alone) for text in _newest(newest))


def _leading(messages: Sequence[Message]) -> list[str]:
    found = []
    for message in messages[:LEADING]:
        if message.role not in SYSTEM_ROLES:
            break
        found.append(message.words)
    return found


def _newest(message: Message) -> list[str]:
    """The windows of the newest message: its last text parts, without what clients put in."""
    if message.role not in ("user", *SYSTEM_ROLES):
        return []
    texts = [part["text"] for part in message.parts if part["type"] == "text"]
    return [_VOLATILE.strip(_window(text)) for text in texts[-PARTS:]]


def _window(text: str) -> str:
    return text if len(text) <= HEAD + TAIL else f"{text[:HEAD]}\n\n{text[-TAIL:]}"


def _orders(text: str) -> bool:
    return any(one.search(text) for one in (_SUMMARY, _TITLE, _COMMIT, _MARKED))


def _asks(text: str, alone: bool) -> bool:
    """`alone`: nothing stands before the message, so all that may be asked about is in it."""
    if _MARKED.search(text) or (_TASK.match(text) and _CHAT_HISTORY.search(text)):
        return True
    if not _orders(text):
        return False
    points = 2 * _count(_GOES_ON_SIGNS, text) + _count(_FORM_SIGNS, text)
    return alone or points >= ENOUGH


def _count(signs: Sequence[re.Pattern[str]], text: str) -> int:
    return sum(1 for sign in signs if sign.search(text))
