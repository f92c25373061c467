"""Trees for the terminal."""

from __future__ import annotations

import asyncio
from typing import Self

from rich import progress
from rich.console import Console
from rich.markup import escape
from rich.tree import Tree

from memtree.context.context_memory import Answer, ContextMemory
from memtree.unfolding.explain import ExplainedNode, Explanation, TreeNode, TreeView


def draw_all(console: Console, view: TreeView) -> None:
    """The whole tree: every node a line."""
    nodes = {node.id: node for node in view.nodes}
    tree = Tree(f"[bold]{len(nodes)} nodes[/bold]", guide_style="dim")
    for root in view.roots:
        _branch(tree, nodes[root], nodes)
    console.print(tree)


def draw_unfolded(console: Console, explained: Explanation) -> None:
    """What one answer shows: opened nodes, and under them how many excerpts are quoted."""
    tree = Tree("[bold]memory message[/bold]", guide_style="dim")
    stack = [tree]
    for node in explained.nodes:
        del stack[node.depth + 1 :]
        stack.append(stack[-1].add(_line(node, opened=node.body)))
    quoted = tree.add(f"[bold]{len(explained.excerpts)} excerpts, verbatim[/bold]")
    for excerpt in sorted(explained.excerpts, key=lambda excerpt: excerpt.message):
        scores = ", ".join(f"{name} {value:.2f}" for name, value in excerpt.scores.items())
        quoted.add(
            f"[cyan]{excerpt.message}[/cyan] {excerpt.tokens} tokens "
            f"[dim]{excerpt.reason} {scores}[/dim]"
        )
    console.print(tree)


def summary_line(answer: Answer) -> str:
    share = answer.sent_tokens / max(1, answer.raw_tokens)
    return (
        f"[bold]{answer.raw_tokens:,} tokens posted, {answer.sent_tokens:,} sent[/bold] "
        f"({share:.1%}): outline {answer.outline_tokens:,}, {answer.excerpts} excerpts, "
        f"recent {answer.recent_tokens:,}; state {answer.state}"
    )


def _branch(parent: Tree, node: TreeNode, nodes: dict[bytes, TreeNode]) -> None:
    by = " [dim](model)[/dim]" if node.by_model else ""
    branch = parent.add(_line(node) + by)
    for child in node.children:
        _branch(branch, nodes[child], nodes)


def _line(node: TreeNode | ExplainedNode, opened: bool = False) -> str:
    where = f"{node.first}" if node.first == node.last else f"{node.first}-{node.last}"
    style = "bold" if opened else "default"
    return f"[cyan]{where}[/cyan] [{style}]{escape(node.headline)}[/{style}]"


STEP = 0.1  # seconds


class Progress:
    """A bar over what is left, counted from the most that was ever left."""

    def __init__(self, console: Console) -> None:
        self._bar = progress.Progress(
            progress.TextColumn("indexing"),
            progress.BarColumn(),
            progress.TaskProgressColumn(),
            progress.TextColumn("{task.completed:,.0f} tokens"),
            progress.TimeElapsedColumn(),
            console=console,
            transient=True,
        )
        self._task: progress.TaskID | None = None
        self._most = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        if self._task is not None:
            self._bar.stop()

    def show(self, left: int) -> None:
        if self._task is None:
            self._bar.start()
            self._task = self._bar.add_task("indexing")
        self._most = max(self._most, left)
        self._bar.update(self._task, total=self._most, completed=self._most - left)


async def bar(memory: ContextMemory, tenant: str, console: Console) -> None:
    """Draw until nothing of the tenant is pending."""
    with Progress(console) as drawn:
        while left := (await memory.pending(tenant)).tokens:
            drawn.show(left)
            await asyncio.sleep(STEP)
