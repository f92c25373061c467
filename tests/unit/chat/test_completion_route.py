"""The tools of an epoch are those of its first request."""

from __future__ import annotations

from memtree.config import Settings
from memtree.dialects.tool_definitions import CHAT_MEMORY_TOOLS, CONTEXT_TOOLS, ToolGroup
from memtree_proxy.chat.completion_route import MAX_KEPT, OfferedTools
from memtree_proxy.chat.tool_rounds import ToolSession
from memtree_proxy.dialects.chat_dialect import ChatDialect
from memtree_proxy.dialects.tool_offer import CHAT, Offer
from tests.unit.chat.test_tool_session import save

DIALECT = ChatDialect(Settings())


def session(*groups: ToolGroup) -> ToolSession:
    handlers = {name: save for group in groups for name in group.names}
    return ToolSession(DIALECT, Offer(b"", groups, CHAT), None, handlers, 1_000)


def test_later_requests_get_no_others():
    offered = OfferedTools()
    first = session(CONTEXT_TOOLS)
    assert offered.settled("t", "e", first) is first
    again = session(CONTEXT_TOOLS)
    assert offered.settled("t", "e", again) is again
    fewer = offered.settled("t", "e", session(CHAT_MEMORY_TOOLS, CONTEXT_TOOLS))
    assert fewer is not None
    assert fewer.offer.groups == (CONTEXT_TOOLS,)
    assert fewer.names == CONTEXT_TOOLS.names
    assert offered.settled("t", "e", session(CHAT_MEMORY_TOOLS)) is None
    assert offered.settled("t", "e", None) is None
    other = session(CHAT_MEMORY_TOOLS)
    assert offered.settled("t", "f", other) is other
    assert offered.settled("u", "e", other) is other


def test_an_epoch_that_began_without_stays_without():
    offered = OfferedTools()
    assert offered.settled("t", "e", None) is None
    assert offered.settled("t", "e", session(CONTEXT_TOOLS)) is None


def test_few_epochs_are_kept():
    offered = OfferedTools()
    offered.settled("t", "e", None)
    for number in range(MAX_KEPT):
        offered.settled("t", f"{number}", None)
    late = session(CONTEXT_TOOLS)
    assert offered.settled("t", "e", late) is late
