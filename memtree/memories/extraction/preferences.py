"""Preferences in English: what the user likes, and what they decided on."""

from __future__ import annotations

import re

# What is liked in a chat is often the last answer, which nobody sees later.
_AT_HAND = (
    r"(?!(?:that|this|it|these|those|them|your?|you|yours|how|what|where|the (?:idea|first|second"
    r"|third|last|other|new|old|way|look|design|version|approach|one|ones|option|result|current"
    r"|latter"
    r"|former|above|sound|following|original|previous|fact|simpler|cleaner|direction|concept"
    r"|suggestion"
    r"|changes?|title|name|plan)|option|version|number|either|both|neither|one|to (?:see|hear|know"
    r"|say"
    r"|add|get|ask|thank|point)|if|when (?:you|it)|so far|him|her|us|to (?:be|have) (?:a|an|the|it"
    r"|this)"
    r")\b)"
)
_LIKES = re.compile(
    r"(?:i|we|my (?:wife|husband|partner)) (?:(?:really|also|only|usually|generally|always|strongly"
    r"|much|do|absolutely|honestly|don't|do not|still|personally|mostly|tend to|definitely"
    r"|just) ){0,3}"
    r"(?:prefer|like|love|enjoy|hate|dislike|adore|detest|loathe|favou?r|can't stand|cannot stand"
    r"|can't"
    rf" bear|avoid) {_AT_HAND}\w"
    rf"|(?:i'd|i would) rather (?!you|not|see|have (?:it|this|that)){_AT_HAND}\w"
    r"|(?:i'm|i am|im) (?:not |really |very |a |also |more of |such |huge |big |much of |an? )*"
    rf"(?:fan of|fond of|keen on|into|partial to|person who) (?!account){_AT_HAND}\w"
    r"|(?:my|our) (?:[\w-]+ )?favou?rites? (?:[\w' -]{2,40} )?(?:is|are|was) \w"
    r"|i have a (?:soft spot|weakness|preference) for "
    rf"|i find [\w ]{{2,40}} (?:boring|annoying|delicious|tasty|relaxing) "
)
_DECIDED = re.compile(
    r"(?:we|i|the team|the board|our team|my (?:wife|husband|partner) and i)(?:'ve|'re|'m| have"
    r"| are| am)?"
    r" (?:(?:finally|also|just|now|already) ){0,2}(?:decided (?:to|on|against|not to|that)"
    r"|agreed (?:to|on"
    r"|that)|settled on|chose|picked|opted for|(?:are )?going (?:to go )?with|went with"
    r"|standardi[sz]ed on"
    r"|committed to|dropped|moving to|switching to|migrating (?:to|from|off))"
    r" (?!(?:that|this|it|these|your?|option|the (?:first|second|third|last|other)|one|skip|try"
    r"|leave|do"
    r" (?:it|this|that)|just)\b)\w"
)


def is_preference(lower: str) -> bool:
    return _LIKES.match(lower) is not None


def is_decision(lower: str) -> bool:
    return _DECIDED.match(lower) is not None
