"""Name the parts of a message that are no statement, and why."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class SkipReason(StrEnum):
    """Why a sentence of a message is no memory."""

    QUESTION = "question"
    REQUEST = "request"  # one task for the assistant
    HYPOTHETICAL = "hypothetical"
    QUOTED = "quoted"  # text that the user hands over: to be translated, summarised, corrected
    CODE = "code"  # about code under discussion
    OTHERS = "about_others"  # what others say or do
    FICTION = "fiction"  # stories and role-play
    TRANSIENT = "transient"  # true today: a mood, a step of a session
    LONG = "too_long"
    VAGUE = "too_vague"  # it, this, they: nobody knows later what was meant
    SECRET = "secret"
    DUPLICATE = "duplicate"  # said twice in this message
    CAP = "cap"  # one message gives so many memories and no more
    NOT_ABOUT_USER = "not_about_user"
    OFF_RECORD = "off_record"  # of a message that says that nothing of it is to be kept
    SYSTEM_TEXT = "system_text"  # a system prompt or rules file that a client put into the message


@dataclass(frozen=True, slots=True)
class Skip:
    start: int
    end: int
    reason: SkipReason
