"""Preferences in English: what the user likes, and what they decided on."""

from __future__ import annotations

import re

# What is liked in a chat is often the last answer, which nobody sees later.
_AT_HAND = (
    r"(?!(?:that|this|it|these|those|them|your?|you|yours|how|what|where|the (?!mountains|sea"
    r"|ocean|beach|outdoors|countryside|cold|heat|rain|snow|city|theat|opera|movies|cinema|gym"
    r"|water|smell|taste|night)|all the|its|their|his|every(?:thing)?|making this|option|version"
    r"|number|either|both|neither|one|to (?:see|hear|know|say|add|get|ask|thank|point)|if"
    r"|when (?:you|it)|so far|him|her|us|mondays?|life|everything|everyone|everybody|people"
    r"|myself|my life|waiting|to (?:be|have) (?:a|an|the|it|this))\b)"
)
_LIKES = re.compile(
    r"(?:i|we|my (?:wife|husband|partner)) (?:(?:really|also|only|usually|generally|always"
    r"|strongly|much|do|absolutely|honestly|don't|do not|still|personally|mostly|tend to"
    r"|definitely|just) ){0,3}(?:prefer|like|love|enjoy|hate|dislike|adore|detest|loathe|favou?r"
    r"|can't stand|cannot stand|can't"
    rf" bear|avoid) {_AT_HAND}\w|(?:i'd|i would) rather (?!you|not|see|have (?:it|this"
    rf"|that)){_AT_HAND}\w"
    r"|(?:i'm|i am|im) (?:not |really |very |also |more of |such |huge |big |much of |an? )*"
    rf"(?:fan of|fond of|keen on|into|partial to|person who) (?!account){_AT_HAND}\w"
    r"|(?:my|our) (?:[\w-]+ )?(?:favou?rites?|go-to|usual) (?!part|thing|one\b"
    r"|bit)(?:[\w' -]{2,40} )?(?:is|are"
    r"|was) (?!the (?:first|second|third|last|ending|one)|that|this)\w|i have a (?:soft spot"
    r"|weakness|preference) for "
    rf"|i find [\w ]{{2,40}} (?:boring|annoying|delicious|tasty|relaxing) "
)
_DECIDED = re.compile(
    r"(?:we|i|the team|the board|our team|my (?:wife|husband|partner) and i)(?:'ve|'re|'m| have"
    r"| are| am)? (?:(?:finally|also|just|now|already) ){0,2}(?:decided (?:to|on|against|not to"
    r"|that)|agreed (?:to|on|that)|settled on|chose|picked|opted for"
    r"|(?:are )?going (?:to go )?with|went with|standardi[sz]ed on|committed to|dropped|moving to"
    r"|switching to|migrating (?:to|from|off)) (?!(?:that|this|it|these|your?|option|the (?:first"
    r"|second|third|last|other)|one|skip|try|leave|do (?:it|this|that)|just|to \w+ (?:it|this"
    r"|that|them)|\w+ (?:it|this|that|them|these))\b)\w"
)


def is_preference(lower: str) -> bool:
    return _LIKES.match(lower) is not None


def is_decision(lower: str) -> bool:
    return _DECIDED.match(lower) is not None
