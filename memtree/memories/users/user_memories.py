"""Values of user memories: groups, a user's settings, and the plan of a tenant."""

from __future__ import annotations

from dataclasses import dataclass

PLANS = ("pro", "free")
PLAN = "pro"  # of a tenant that was given none
TOP_K, MOST_TOP_K = 3, 20
SCORE_THRESHOLD = 0.5
MAX_GROUPS = 1_000  # of a scope
MAX_TITLE_CHARS, MAX_DESCRIPTION_CHARS = 200, 2_000


@dataclass(frozen=True, slots=True)
class MemoryGroup:
    """`members`: live memories in it. Times are unix seconds."""

    id: str
    title: str
    created: float
    updated: float
    description: str = ""
    category: str | None = None
    members: int = 0


@dataclass(frozen=True, slots=True)
class GroupChange:
    """Change of a group; None: it stays. `category` "": it has none any more."""

    title: str | None = None
    description: str | None = None
    category: str | None = None


@dataclass(frozen=True, slots=True)
class UserSettings:
    """Switches of a user. `save`: memories are extracted from conversations, and stand beside them;
    `history`: snapshots of conversations are kept. `top_k`: memories beside a message, at most;
    `threshold`: the relevance that they need."""

    save: bool = False
    history: bool = False
    top_k: int = TOP_K
    threshold: float = SCORE_THRESHOLD


@dataclass(frozen=True, slots=True)
class SettingsChange:
    """None: it stays."""

    save: bool | None = None
    history: bool | None = None
    top_k: int | None = None
    threshold: float | None = None
