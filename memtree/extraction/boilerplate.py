"""Recognise what recurs in every session and says nothing of this one: commands, prompts, banners,
frames.

A fixed list of forms. They may stand in a body where nothing else is there, never in a headline.
What this file does not do: chatter of people (`clauses.py`).

    >>> [is_boilerplate(line) for line in ("/undo", "continue", "Undo the last commit")]
    [True, True, False]
"""

from __future__ import annotations

import re

# A time in front of what was said; alone on its line it says nothing but when.
_STAMP = re.compile(
    r"(?:\[[^\]\n]{0,24}\d{1,2}[:.]\d\d[^\]\n]{0,32}\]|\[\d{1,4}[-./]\d{1,2}[-./]\d{1,4}[^\]\n]{0,20}\]"
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d[\d:.,Z+]*|\d\d:\d\d:\d\d(?:[.,]\d{1,6})?"
    r"|\d{1,4}[./-]\d{1,2}[./-]\d{1,4},? \d{1,2}:\d\d(?::\d\d)?(?: ?[aApP][mM])?)"
    r"(?: ?[-–|:])? ?(?=\S|$)"
)
_NAME = re.compile(
    r"(?:[A-ZÀ-ÖØ-ÞА-ЯЁ][\w'’.-]{0,24}(?: [A-ZÀ-ÖØ-ÞА-ЯЁ][\w'’.-]{0,24}){0,2}"
    r"|[\u3041-\u9fff\uac00-\ud7a3]{1,8})[:：] ?(?=\S)"
)
_ALONE = frozenset(
    """
    continue|go on|go ahead|proceed|next|yes|yes please|y|n|no|ok|okay|sure|sounds good|do it
    |please do
    |try again|again|retry|thanks|thank you|done|stop|exit|quit|hi|hello|hey|test|looks good
    |great|perfect
    |weiter|ja|nein|danke|mach weiter|continuer|oui|non|merci|sí|si|gracias|да|нет|продолжай
    |спасибо|дальше
    |继续|好的|好|是的|是|谢谢|可以|はい|お願いします|続けて|ありがとう|네|계속|좋아
    """.replace("\n", "")
    .replace("    ", "")
    .split("|")
)
_FORMS = re.compile(
    r"/[a-z][\w-]*(?: \S+){0,3}$"  # /undo, /add path
    r"|(?:fix any errors|you can use /|use /?help|run .{1,40} --help|attempt to .{1,60}\?"
    r"|running: |(?:running command|(?:read|edit|writ)ing file)s?: "
    r"|tokens: [\d,.]+|cost: |models?: \S+|git repo: |repo-map: "
    r"|added .{1,200} to the chat"
    r"|.{1,60} chat started at |(?:\^c|bash-\S*\$|\$|>|>>>|#)$|hook id: |exit code: 0"
    r"|.{1,60}\? [yn]$"
    r"|process exited with code 0|chunk id: \w+$|wall time: [\d.]+|original token count: \d"
    r"|total output lines: \d|warning: truncated output|[^…]{0,40}…\d+ tokens truncated…"
    r"|\[?file: |\(?open file: |\(?current directory: |\(\d+ (?:more )?lines?\b|end of file"
    r"|\(?end of|your (?:command|proposed|changes|edit)\b|file (?:updated|created)"
    r"|this is (?:how your|the original)|you (?:either )?need to 1\)|do not re-?run"
    r"|platform \w+ --|[\d,]+ tokens |edit the file again|\^c\b|retrying in"
    r"|read this error|just reply with"
    r"|please (?:fix your|review|note|make sure|add these|try again|understand)"
    r"|see (?:relevant|the) line|short test summary|captured std|collected \d+ items?"
    r"|file \"[^\"]*\", line \d|at \S+ ?\(.*:\d+\)|traceback \(most|during handling of"
    r"|the above exception|caused by:|stack ?trace|note:? (?:about|that|however)"
    r"|[\w ./-]{1,30} v\d+\.\d[\w.-]*$|requirement already|collecting \S+$|using cached"
    r"|downloading "
    r"|(?:# |the other )?\d+ search/replace blocks? |error: cannot install "
    r"|the (?:search section must exactly match|replace lines are already in|llm did not conform)"
    r"|searchreplacenoexactmatch|signs alone: "
    r"|your thought has been|i(?:'ve| have) uploaded "
    r"|we(?:'re| are) currently solving the following"
    r"|i(?:'ve| have) already taken care of |you do not need to follow "
    r"|do not propose changes |retrieving content |added workspace context"
    r"|here(?:'s| is) the result of running |as requested"
    r"|it (?:seems|looks|appears)(?: like| that)? (?:there was a misunderstanding"
    r"|you (?:might have |may have |have )?accidentally )"
    r"|i'm here to help|how (?:can|may) i (?:help|assist) you"
    r"|je comprends que vous n'avez pas encore"
    r"|copyright|licensed under|#!/|---+|===+|<<<<|>>>>|⋮|\.{3}|import \S+$|from \S+ import"
    r"|step \d+[:.]?$|\[(?:photo|image|video|gif|audio|sticker|file)\b"
    r"|(?:sure|certainly|of course|absolutely|great|okay|ok)\b[,!.]? "
    r"(?:here|let|i(?:'ll|'ve| will| can|'d))"
    r"|here (?:is|are)\b|here's\b|let me (?:know|see|check|look|start|run|try|read)\b"
    r"|(?:step \d+: )?i(?:'ll| will) (?:now )?use (?:a|the|this|another) (?:[\w-]{1,30} )?tools?\b"
    r"|i'?ll (?:start|begin|look|check|read|use|help|run|now)\b|to exit$|again to exit)",
    re.IGNORECASE,
)


# The words that the forms begin with: a cheap test before the pattern.
_FIRST = frozenset(
    """
    fix you use run attempt running tokens cost model models git repo-map added hook exit file open
    current end your this do platform edit retrying read just please see short captured collected at
    traceback during the caused stack stacktrace note requirement collecting using downloading
    copyright licensed import from step sure certainly of absolutely great okay ok here here's let
    i'll ill i to again error signs reading editing writing
    process chunk wall original total warning
    searchreplacenoexactmatch i've i'm we we're how it retrieving as je
    """.split()
)


def is_boilerplate(line: str) -> bool:
    """Return True if a tidied line has one of the forms."""
    if len(line) < 24 and line.lower().strip(' .!?。！“”"') in _ALONE:
        return True
    return _may_be(line) and bool(_FORMS.match(line))


def _may_be(line: str) -> bool:
    first = line.partition(" ")[0].lower().rstrip(",!.:")
    return (
        first in _FIRST
        or not line[:1].isalpha()
        or line[-3:] in ("? y", "? n")
        or "tokens truncated…" in line[:80]
        or " v" in line[:32]
        or " chat started at " in line[:80]
    )


def without_stamp(line: str) -> str:
    """The line without the time in front of it."""
    if line and (line[0] in "[(" or line[0].isdigit()) and (match := _STAMP.match(line)):
        return line[match.end() :]
    return line


def speaker_of(line: str) -> str:
    """The name before what was said ("Ann" of "Ann: hello"); empty where there is none."""
    match = _NAME.match(line)
    return match.group().rstrip(": ：") if match else ""
