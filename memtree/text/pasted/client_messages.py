"""Recognise what programs write in the name of the user: the first message of an agent, notes about
files, summaries of conversations that went before. Some of it says "I".

Told by how it begins, as found in the clients of `docs/clients.md`, aider and the Qwen and Gemini
command lines among them.
"""

from __future__ import annotations

import re

READ = 400  # characters of a message or a line

# The whole message is a program's.
_MESSAGE = re.compile(
    r"""\s{0,20}(?:
    \[[A-Za-z_][\w.-]{0,80}(?:\ for\ '[^\n]{0,300}')?\]\ Result:
    |(?:ERROR|OUTPUT|RESULTS?|STDOUT|STDERR|(?:EXECUTION|TOOL|COMMAND|FUNCTION)\ \w+)\b[^\n]{0,80}
     :[ \t]*\n
    |(?:OBSERVATION|Observation):|Tool\ (?:result|output)\b[^\n]{0,80}:
    |(?:The\ )?(?:[Tt]ool|[Ff]unction)\ (?:\S{1,60}\ )?(?:returned|responded|result|output)\b
    |I['’]ve\ uploaded\ a\ (?:\w+\ )?code\ repository
    |This\ is\ (?:the\ )?(?:Qwen\ Code|Gemini\ CLI|Claude\ Code)\b
    |This\ session\ is\ being\ continued\ from\ a\ previous\ conversation
    |(?:Context|Conversation|Session)\ summary:|Summary\ of\ (?:the\ )?(?:conversation|session|chat)
    |Another\ language\ model\ started\ to\ solve\ this\ problem
    |I\ have\ \*?added\ these\ files\ to\ the\ chat|I\ am\ not\ sharing\ (?:any|the)\ files
    |Here\ are\ summaries\ of\ some\ files\ present\ in\ my\ git\ repo
    |Here\ are\ the\ current\ contents\ of|These\ are\ the\ \*?read-?only\*?\ files
    |I\ switched\ to\ a\ new\ code\ ?base|I\ ran\ this\ command:|I\ updated\ the\ files\.
    |I\ committed\ the\ changes\ with\ git\ hash|I\ attempted\ to\ apply
    |The\ LLM\ did\ not\ conform\ to\ the\ edit\ format|\#\ Fix\ any\ errors\ below
    |Caveat:\ The\ messages\ below\ were\ generated
    |\[Request\ interrupted\ by\ user|\[ERROR\]\ You\ did\ not\ use\ a\ tool
    |Your\ previous\ (?:response|output|reply)\ (?:was|did|could)
    |Use\ the\ following\ pieces\ of\ (?:retrieved\ )?context
    )""",
    re.VERBOSE,
)
# A paragraph within a message is.
_PARAGRAPH = re.compile(
    r"""\s{0,20}(?:
    Called\ the\ \w+\ tool\ with\ the\ following\ input
    |Today['’]s\ date\ is\b|The\ current\ (?:date|time)\b
    |Current\ (?:date|time|working\ directory)\b
    |My\ operating\ system\ is:|I['’]m\ currently\ working\ in\ the\ directory
    |The\ project['’]s\ temporary\ directory|Here\ is\ the\ folder\ structure
    |Note:\ I\ (?:have|am)\ (?:added|sharing)
    |\[(?:Image|image|File|file|Attachment)\b[^\]\n]{0,200}\]
    |IMPORTANT:\ this\ context\ may\ or\ may\ not\ be\ relevant
    |As\ you\ answer\ the\ user['’]s\ questions,\ you\ can\ use
    )""",
    re.VERBOSE,
)


def is_by_client(text: str) -> bool:
    """Return True if a message of the user was written by a program."""
    return _MESSAGE.match(text) is not None


def begins_note(line: str) -> bool:
    """Return True if a line begins a paragraph that a program wrote."""
    return _PARAGRAPH.match(line[:READ]) is not None
