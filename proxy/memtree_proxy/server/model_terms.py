"""Show the terms assumed for the upstream's models: the window and the prices of each, and the size
at which memory begins.
"""

from __future__ import annotations

from collections.abc import Sequence

import httpx2

from memtree.config import Settings
from memtree.setting_values import without_password
from memtree_proxy.chat import context_windows, price_table
from memtree_proxy.chat.fields import CHAT_MODE, chat_folds_at
from memtree_proxy.chat.local_upstream import is_local
from memtree_proxy.server.finding import Finding

SHOWN_NAMES, SHOWN_LINES = 3, 5
LOOKED_AT = 1_000  # names; gateways list hundreds
ANY = ""  # stands for an unknown model
SHOWN_MODELS = 5


def listed_models(answer: httpx2.Response) -> list[str]:
    """Return the names in an upstream's answer to `GET /models`; none if it has another form."""
    try:
        body = answer.json()
    except ValueError:
        return []
    listed = body.get("data") if isinstance(body, dict) else None
    models = listed if isinstance(listed, list) else []
    names = (model.get("id") for model in models if isinstance(model, dict))
    return [name for name in names if isinstance(name, str)]


def models(settings: Settings, listed: Sequence[str]) -> Finding:
    """Report the assumed window, and for which of the upstream's models (`listed`)."""
    window = context_windows.assumed(settings.window)
    text = f"an unknown model is taken to have a window of {window:,} tokens"
    unknown = [name for name in listed if context_windows.known(name, settings.window) is None]
    if unknown:
        more = len(unknown) - SHOWN_MODELS
        shown = ", ".join(unknown[:SHOWN_MODELS]) + (f" and {more} more" if more > 0 else "")
        text += f", as {shown}"
    return Finding("models", "ok", f"{text}; --window NAME=TOKENS changes it")


def memory_begins(settings: Settings, listed: Sequence[str]) -> list[Finding]:
    """Return one line for unknown models, and one for each group of `listed` models that are known
    and have equal terms."""
    unknown = f"an unknown model{_place(settings.upstream)}: {_terms(ANY, settings)}"
    groups: dict[str, list[str]] = {}
    for name in listed[:LOOKED_AT]:
        if price_table.known(name, settings.prices) is not None:
            groups.setdefault(_terms(name, settings), []).append(name)
    lines = [f"{_names(names)}: {terms}" for terms, names in groups.items()]
    if len(lines) > SHOWN_LINES:
        left = sum(len(names) for names in list(groups.values())[SHOWN_LINES:])
        lines = [*lines[:SHOWN_LINES], f"and {left} more models that are known"]
    return [Finding("memory", "ok", line) for line in (unknown, *lines)]


def _place(upstream: str | None) -> str:
    if upstream is None:
        return ""
    own = "your own upstream " if is_local(upstream) else ""
    return f" behind {own}{without_password(upstream)}"


def _names(names: Sequence[str]) -> str:
    more = len(names) - SHOWN_NAMES
    return ", ".join(names[:SHOWN_NAMES]) + (f" and {more} more" if more > 0 else "")


def _terms(model: str, settings: Settings) -> str:
    window = context_windows.of(model, settings.window)
    prices = price_table.of(model, settings.prices, local=is_local(settings.upstream))
    cost = f"{prices.write:g}/{prices.read:g}/{prices.lifetime:.0f}"
    if not prices.metered:
        cost += ", which delay nothing"
    begins = f"memory begins at about {chat_folds_at(model, settings):,} tokens"
    return f"window {window:,}, prices {cost}; in mode {settings.mode or CHAT_MODE} {begins}"
