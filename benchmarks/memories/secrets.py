"""Secrets in memories: texts that hold one and are refused, and texts that hold none and are not.

The texts stand in `cases/secrets.txt` without the random characters, which are made here. No
outside data.
"""

from __future__ import annotations

import random
import re
import string
from pathlib import Path

from benchmarks.report import Row
from benchmarks.subject import Bench
from memtree.text import secrets

CASES = Path(__file__).parents[1] / "cases" / "secrets.txt"
FOUND, FALSE = 98.0, 2.0  # percent
_SLOT = re.compile(r"\{(b62|low|up|hex|b64|dig|pw):(\d+)\}")
_LETTERS = string.ascii_letters + string.digits
_ALPHABETS = {
    "b62": _LETTERS,
    "low": string.ascii_lowercase,
    "up": string.ascii_uppercase + "234567",
    "hex": "0123456789abcdef",
    "b64": f"{_LETTERS}+/",
    "dig": string.digits,
    "pw": f"{_LETTERS}!#%&*-_",
}


def texts(seed: int = 1) -> tuple[list[str], list[str]]:
    """Texts with a secret, and without one."""
    chance = random.Random(seed)
    found: dict[str, list[str]] = {"+": [], "-": []}
    for line in CASES.read_text("utf-8").splitlines():
        if line[:2] in ("+ ", "- "):
            found[line[0]].append(_SLOT.sub(lambda slot: _made(chance, slot), line[2:]))
    return [_text(one) for one in found["+"]], [_text(one) for one in found["-"]]


def _made(chance: random.Random, slot: re.Match[str]) -> str:
    made = "".join(chance.choices(_ALPHABETS[slot[1]], k=int(slot[2])))
    # Whatever chance says: a digit and a letter are in all that is as long as a key.
    return f"{made[:-2]}k7" if slot[1] in ("b62", "b64", "pw") else made


def _text(line: str) -> str:
    return line.replace("\\n", "\n")


async def run(bench: Bench) -> tuple[list[Row], list[str]]:
    with_one, without = texts()
    found = sum(bool(secrets.find(text)) for text in with_one)
    wrong = sum(bool(secrets.find(text)) for text in without)
    return [
        Row(f"found of {len(with_one)}", 100 * found / len(with_one), "%", FOUND),
        Row(f"false of {len(without)}", 100 * wrong / len(without), "%", FALSE, at_most=True),
    ], []
