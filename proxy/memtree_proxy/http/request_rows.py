"""Make a row of the log from the trace of an ended request. Pure.

Words are from fixed lists, and any other word becomes `other`: a row contains nothing that a
client, a model or a provider wrote except the model's name, cut short.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from memtree import errors
from memtree.budget.prices import ProviderUsage
from memtree.context.answer_state import Reason, State
from memtree.ports.request_log import CLIENT_GONE, LONGEST_MODEL, UNKNOWN, RequestRow
from memtree_proxy.http.headers import OTHER, READING, client_of
from memtree_proxy.http.request_trace import Trace

REASONS = frozenset(Reason)
DIALECTS = ("chat", "messages", "responses", "context_memory")
STATES = tuple(state.value for state in State if state)
# Codes and types of errors: ours and those documented by the three APIs.
ERROR_TYPES = frozenset(
    {
        *(each.code for each in vars(errors).values() if hasattr(each, "code")),
        *"""api_error authentication_error billing_error billing_hard_limit_reached
        content_filter context_length_exceeded context_too_large engine_overloaded
        insufficient_quota invalid_api_key invalid_prompt invalid_request_error
        invalid_value model_not_found not_found_error organization_deactivated
        overloaded_error permission_error rate_limit_error rate_limit_exceeded
        request_too_large requests server_error service_unavailable slow_down
        string_above_max_length timeout_error tokens unsupported_parameter
        upstream_error""".split(),
    }
)
# Too general, so a more specific word of the same error is preferred.
_PLAIN = frozenset({"invalid_request_error", "error"})
_RUN = re.compile(r"[A-Za-z0-9_-]{1,32}")
_UNTOLD = ProviderUsage(0)
_CLIENT_HEADERS = frozenset(name.encode() for name in READING)


def request_row(seen: Trace) -> RequestRow:
    """Make the row."""
    saving, first = seen.entry.saving, seen.entry.first
    usage, reason = seen.usage or _UNTOLD, seen.memory.word
    address = bytes.fromhex(seen.memory.address or "")
    posted, sent = _known(seen.memory.raw_tokens), _known(seen.memory.sent_tokens)
    headers = seen.entry.posted_headers
    return RequestRow(
        0,
        seen.entry.id,
        seen.entry.came,
        _client_of(tuple((k, v) for k, v in headers if k in _CLIENT_HEADERS)),
        seen.entry.dialect,
        model_name(seen.entry.model),
        address,
        saving.first or address,
        seen.memory.state or "",
        reason if reason in REASONS else OTHER,
        bytes.fromhex(seen.memory.epoch) if seen.memory.epoch else b"",
        saving.turn,
        posted,
        sent,
        _known(usage.cached),
        _known(usage.written),
        _known(usage.output),
        saving.saved,
        saving.before,
        UNKNOWN if first is None else round((first - seen.work.begun) * 1000),
        round(seen.work.seconds * 1000),
        len(seen.memory.saved),
        seen.rounds.recalls,
        seen.rounds.overflows + seen.rounds.thinking_replays,
        wrap_run(seen.entry.wrap_run),
        seen.status,
        _error_type(seen),
    )


def model_name(name: str) -> str:
    """Return a model's name for the log: one line, at most `LONGEST_MODEL` characters."""
    cut = name[:LONGEST_MODEL]
    return cut if cut.isprintable() else "".join(c if c.isprintable() else " " for c in cut)


def wrap_run(named: object) -> str:
    """Return the id of a run of `memtree wrap`; "" for anything else."""
    return named if named and isinstance(named, str) and _RUN.fullmatch(named) else ""


def error_type(words: Iterable[str]) -> str:
    """Return the most specific known word of an error; `other` if none is known."""
    known = [word for word in words if word in ERROR_TYPES]
    telling = [word for word in known if word not in _PLAIN]
    return (telling or known or [OTHER])[-1]


def _error_type(seen: Trace) -> str:
    if seen.error is not None:
        return error_type([seen.error])
    if seen.status < 400 or seen.status == CLIENT_GONE:
        return ""
    return error_type(seen.entry.answered.error_words() if seen.entry.answered else ())


@lru_cache(maxsize=1_024)
def _client_of(named: tuple[tuple[bytes, bytes], ...]) -> str:
    return client_of({k.decode("latin-1"): v.decode("latin-1") for k, v in named}) or OTHER


def _known(number: int | None) -> int:
    return UNKNOWN if number is None else number
