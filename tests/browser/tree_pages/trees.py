"""Shared by the tests of the tree page: trees of any size, and files that are dropped on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page

ADDRESS = "ab" * 32
FAN = 8
LEAF = 500  # tokens


def grown(leaves: int) -> dict[str, Any]:
    """A full tree over so many leaves of two messages each."""
    nodes = [node(f"0-{at}", 0, [], (2 * at, 2 * at + 1), LEAF) for at in range(leaves)]
    level = nodes
    while len(level) > 1:
        groups = [level[at : at + FAN] for at in range(0, len(level), FAN)]
        number = level[0]["level"] + 1
        level = [
            node(
                f"{number}-{at}",
                number,
                [one["id"] for one in group],
                (group[0]["messages"][0], group[-1]["messages"][1]),
                sum(one["tokens"] for one in group),
            )
            for at, group in enumerate(groups)
        ]
        nodes = [*nodes, *level]
    return {"nodes": nodes, "roots": [level[0]["id"]], "rules": []}


def node(id_: str, level: int, children: list[str], messages: tuple[int, int], tokens: int) -> Any:
    return {
        "id": id_, "level": level, "children": children, "messages": list(messages),
        "tokens": tokens, "headline": f"Node {id_}", "body": f"What happened in {id_}.",
        "anchors": [f"file_{id_}.py"], "summary": "extracted", "sealed": True,
    }  # fmt: skip


def drop(page: Page, name: str, content: str) -> None:
    """Drag a file over the page, and let it go."""
    carried = page.evaluate_handle(
        """([name, content]) => {
          const carried = new DataTransfer();
          carried.items.add(new File([content], name));
          return carried;
        }""",
        [name, content],
    )
    page.dispatch_event("body", "dragenter", {"dataTransfer": carried})
    page.get_by_text("Drop the file to open it").wait_for()
    page.dispatch_event("body", "drop", {"dataTransfer": carried})
