"""How long a request may wait for its tree: by the setting, and no longer than its client waits."""

from __future__ import annotations

from collections.abc import Mapping

from memtree.config import Settings

STAINLESS = "x-stainless-read-timeout"  # seconds that an OpenAI SDK waits for the answer
STAINLESS_MARGIN = 5.0
SILENT_SECONDS = 280.0  # the shortest default of a client that gives up on silence is 294


def patience(headers: Mapping[str, str], settings: Settings, *, silent: bool) -> float:
    """Return how many seconds a request may wait. `silent`: the client sees nothing before the
    answer, so it might give up."""
    longest = float(settings.wait_seconds)
    if not silent:
        return longest
    try:
        given = float(headers.get(STAINLESS, ""))
    except ValueError:
        given = 0.0
    # `not >` would also be true of nan
    allowed = given - STAINLESS_MARGIN if given > STAINLESS_MARGIN else SILENT_SECONDS
    return max(1.0, min(longest, SILENT_SECONDS, allowed))
