"""The one tree of errors; each carries the HTTP status and the code the edge renders.

MemTreeError                      500  internal_error
├── BadRequest                    400  invalid_request      names the field in `param`
├── Unauthorized                  401  invalid_api_key
├── Forbidden                     403  forbidden
├── NotFound                      404  not_found
├── RequestTimeout                408  request_timeout      the upload, not the answer
├── Conflict                      409  conflict
│   ├── VersionConflict           409  version_conflict
│   └── MemoryLimit               409  memory_limit
├── RequestTooLarge               413  request_too_large    the body itself
├── ContextOverflow               413  context_length_exceeded
├── UnsupportedMedia              415  unsupported_media_type
├── MisdirectedRequest            421  misdirected_request
├── ModelNeeded                   422  model_needed         no model to read a conversation
├── SecretRejected                422  secret_rejected      a memory that holds a secret
├── SchemaInvalid                 422  invalid_schema       a schema that is none, or over a limit
├── SchemaViolation               422  schema_violation     data that its schema does not allow
├── RateLimited                   429  rate_limit_exceeded  with `retry_after`
├── HeadersTooLarge               431  headers_too_large
├── UpstreamFailed                502  upstream_unreachable
│   └── UpstreamRefused           502  upstream_refused     a call that was made for a caller
├── UpstreamTimeout               504  upstream_timeout
└── Unavailable                   503  unavailable
    ├── NoUpstream                503  no_upstream
    ├── StoreUnavailable          503  store_unavailable
    │   └── NodesGone             503  nodes_gone
    ├── StoreCorrupt              503  store_corrupt
    ├── EmbedderUnavailable       503  embedder_unavailable
    ├── SummarizerUnavailable     503  summarizer_unavailable
    └── QueueUnavailable          503  queue_unavailable
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar


class MemTreeError(Exception):
    """Base of all errors of the project. `message` is safe to show: it never holds message text."""

    status: ClassVar[int] = 500
    code: ClassVar[str] = "internal_error"
    kind: ClassVar[str] = "api_error"

    def __init__(self, message: str, *, param: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.param = param


def needs_extra(use: str, extra: str) -> str:
    """Say what to install where the packages of an extra are missing. It holds in a clone, too: an
    editable installation of this version is there, so pip adds the extra's packages alone."""
    return f"{use} needs packages that are not installed: pip install 'memtree-proxy[{extra}]'"


class BadRequest(MemTreeError):
    """The caller's input is wrong; `param` names the place, as in `messages[3].content`."""

    status = 400
    code = "invalid_request"
    kind = "invalid_request_error"


@contextmanager
def importing(use: str, extra: str, param: str) -> Iterator[None]:
    """Raise `BadRequest` for the setting `param` if the block's import lacks a package."""
    try:
        yield
    except ImportError as error:
        raise BadRequest(needs_extra(use, extra), param=param) from error


class Unauthorized(MemTreeError):
    status = 401
    code = "invalid_api_key"
    kind = "authentication_error"


class Forbidden(MemTreeError):
    status = 403
    code = "forbidden"
    kind = "invalid_request_error"


class NotFound(MemTreeError):
    status = 404
    code = "not_found"
    kind = "invalid_request_error"


class RequestTimeout(MemTreeError):
    """The client took too long to send its request. SDKs send it again."""

    status = 408
    code = "request_timeout"
    kind = "invalid_request_error"


class Conflict(MemTreeError):
    """Raised where the stored state stands against a request: `code` says what, as
    `version_conflict`."""

    status = 409
    code = "conflict"
    kind = "invalid_request_error"


class VersionConflict(Conflict):
    code = "version_conflict"


class MemoryLimit(Conflict):
    code = "memory_limit"


class RequestTooLarge(MemTreeError):
    """The body is over the size limit; not the model's context (that is `ContextOverflow`)."""

    status = 413
    code = "request_too_large"
    kind = "invalid_request_error"


class ContextOverflow(MemTreeError):
    """Raised where the messages that must be sent whole do not fit the model. Clients look for its
    wording."""

    status = 413
    code = "context_length_exceeded"
    kind = "invalid_request_error"

    def __init__(self, limit: int, tokens: int, reserve: int = 0) -> None:
        """`limit`: the model's window. `tokens`: what was posted and `reserve`, the room that it
        has to leave for the answer."""
        kept = f" Of these, {reserve} are kept for the answer." if reserve else ""
        super().__init__(
            f"This model's maximum context length is {limit} tokens. "
            f"However, your messages resulted in {tokens} tokens.{kept}",
            param="messages",
        )
        self.limit = limit
        self.tokens = tokens - reserve


class UnsupportedMedia(MemTreeError):
    status = 415
    code = "unsupported_media_type"
    kind = "invalid_request_error"


class MisdirectedRequest(MemTreeError):
    """The request was sent to a name that this server does not answer to."""

    status = 421
    code = "misdirected_request"
    kind = "invalid_request_error"


class ModelNeeded(MemTreeError):
    """The request needs a model, and there is none to ask. The message says how to name one."""

    status = 422
    code = "model_needed"
    kind = "invalid_request_error"


class SecretRejected(MemTreeError):
    """The message names the kind of secret, never its value."""

    status = 422
    code = "secret_rejected"
    kind = "invalid_request_error"


class SchemaInvalid(MemTreeError):
    """The message says what is wrong with the schema, or which limit it is over."""

    status = 422
    code = "invalid_schema"
    kind = "invalid_request_error"


class SchemaViolation(MemTreeError):
    """The message names the place in the data and the rule, never a value."""

    status = 422
    code = "schema_violation"
    kind = "invalid_request_error"


class RateLimited(MemTreeError):
    status = 429
    code = "rate_limit_exceeded"
    kind = "rate_limit_error"

    def __init__(self, message: str, *, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class HeadersTooLarge(MemTreeError):
    """Request line and headers are over the limit, or too many."""

    status = 431
    code = "headers_too_large"
    kind = "invalid_request_error"


class UpstreamFailed(MemTreeError):
    status = 502
    code = "upstream_unreachable"
    kind = "upstream_error"


class UpstreamRefused(UpstreamFailed):
    """The upstream answered a call that we made for the caller with an error."""

    code = "upstream_refused"


class UpstreamTimeout(MemTreeError):
    status = 504
    code = "upstream_timeout"
    kind = "upstream_error"


class Unavailable(MemTreeError):
    status = 503
    code = "unavailable"
    kind = "service_unavailable"


class NoUpstream(Unavailable):
    code = "no_upstream"


class StoreUnavailable(Unavailable):
    """The store cannot be reached, is locked, full or read-only; the chat goes on without it."""

    code = "store_unavailable"


class NodesGone(StoreUnavailable):
    """A write names nodes that were deleted since they were read; nothing was written."""

    code = "nodes_gone"


class StoreCorrupt(Unavailable):
    code = "store_corrupt"


class EmbedderUnavailable(Unavailable):
    """The embedder is missing or broken; ranking falls back to BM25 alone."""

    code = "embedder_unavailable"


class SummarizerUnavailable(Unavailable):
    """The model for summaries did not answer; extraction stands until it does. `wait`: seconds
    after which it may be asked again. `cost`: (input, output) tokens that may have been spent."""

    code = "summarizer_unavailable"

    def __init__(self, message: str, *, wait: float = 0.0, cost: tuple[int, int] = (0, 0)) -> None:
        super().__init__(message)
        self.wait = wait
        self.cost = cost


class QueueUnavailable(Unavailable):
    """The queue beyond this process cannot be reached; what is to be done waits until it can."""

    code = "queue_unavailable"
