"""`use_rag` and `rag_options` of a chat request: the namespace of passages, and their number.

>>> from memtree.wire.json_body import split
>>> of(split(b'{"use_rag": true, "rag_options": {"topK": 99, "namespace": "handbook"}}'))
RagOptions(namespace='handbook', top_k=20, threshold=0.5, metadata=False, type=None)
"""

from __future__ import annotations

from dataclasses import dataclass

from memtree.errors import BadRequest
from memtree.memories.scope import checked_id
from memtree.wire.json_body import Body
from memtree_proxy.request import fields

SWITCH, OPTIONS = "use_rag", "rag_options"
NAMESPACE = "default"  # if a request names none
TOP_K, MOST_TOP_K = 5, 20
THRESHOLD = 0.5


@dataclass(frozen=True, slots=True)
class RagOptions:
    """`top_k`: most passages. `threshold`: their least relevance. `metadata`: True to show metadata
    of their documents. `type`: of the documents; None: any."""

    namespace: str = NAMESPACE
    top_k: int = TOP_K
    threshold: float = THRESHOLD
    metadata: bool = False
    type: str | None = None


def of(body: Body) -> RagOptions | None:
    """Read the options; None if the request wants no passages. Raises `BadRequest` that names the
    field, as in `rag_options.topK`, even if no passages are wanted."""
    enabled = fields.boolean(body.value(SWITCH), SWITCH)
    posted = body.value(OPTIONS)
    if posted is None:
        return RagOptions() if enabled else None
    if not isinstance(posted, dict):
        raise BadRequest(f"{OPTIONS} must be an object", param=OPTIONS)

    def named(name: str) -> tuple[object, str]:
        return posted.get(name), f"{OPTIONS}.{name}"

    top_k = fields.integer(*named("topK"), 1, MOST_TOP_K)
    threshold = fields.number(*named("scoreThreshold"), 0.0, 1.0)
    metadata = fields.boolean(*named("includeMetadata"))
    type_ = fields.text(*named("type"))
    namespace = fields.text(*named("namespace"))
    if namespace is not None:
        checked_id(namespace, named("namespace")[1])
    options = RagOptions(
        namespace=NAMESPACE if namespace is None else namespace,
        top_k=top_k or TOP_K,
        threshold=THRESHOLD if threshold is None else threshold,
        metadata=bool(metadata),
        type=type_ or None,
    )
    return options if enabled else None
