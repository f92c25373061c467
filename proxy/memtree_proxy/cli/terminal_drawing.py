"""Opens the terminal in which all commands draw, and draws progress bars and trees in it.

Of a tree of summaries it draws the whole, the part that an answer shows, or one path.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Self

from rich import progress
from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from memtree.context.answer_state import State
from memtree.context.context_memory import Answer, ContextMemory
from memtree.history.message import Message
from memtree.unfolding.explain import (
    ExplainedExcerpt,
    ExplainedNode,
    Explanation,
    TreeNode,
    TreeView,
)
from memtree_proxy.cli.foreign_text import one_line, plain

STEP = 0.1  # seconds between two updates of a bar
ROOT = b""
RUN = 3  # longest run of excerpts drawn one by one; of a longer run, the first and the count
BEGINNING = 100  # characters of a quote
WHOLE_QUOTE = 600  # characters of a quote where only a few are shown
_STATES = {
    State.PACKED: "",
    State.PROVISIONAL: "ranked by words for now, until there are embeddings",
    State.NO_EMBEDDER: "ranked by words alone: there is no embedder",
    State.BELOW_THRESHOLD: "sent whole: it is short",
    State.PASSED: "sent whole",
}


def open_console(*, stderr: bool = False) -> Console:
    """Return a console that reads no text as markup or as the name of an emoji. Without a terminal
    it draws neither colours nor bars."""
    return Console(stderr=stderr, markup=False, emoji=False, highlight=False)


def styled(text: str, style: str = "") -> Text:
    """Return foreign text in a style of the command's own."""
    return Text(plain(text), style)


class Progress:
    """A bar of the work left, measured against the greatest amount that was ever left. `verb`: what
    is done; `noun`: what is counted."""

    def __init__(self, console: Console, verb: str = "indexing", noun: str = "tokens") -> None:
        self._verb = verb
        self._bar = progress.Progress(
            progress.TextColumn(verb),
            progress.BarColumn(),
            progress.TaskProgressColumn(),
            progress.TextColumn(f"{{task.completed:,.0f}} {noun}"),
            progress.TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
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
            self._task = self._bar.add_task(self._verb)
        self._most = max(self._most, left)
        self._bar.update(self._task, total=self._most, completed=self._most - left)


async def bar(memory: ContextMemory, tenant: str, console: Console) -> None:
    """Draw a bar until the tenant has nothing pending."""
    with Progress(console) as drawn:
        while left := (await memory.pending(tenant)).tokens:
            drawn.show(left)
            await asyncio.sleep(STEP)


@dataclass(frozen=True, slots=True)
class QuotedMessage:
    """Excerpts of one message, in the message's order."""

    message: int
    role: str
    texts: tuple[str, ...]
    excerpts: tuple[ExplainedExcerpt, ...]

    @property
    def tokens(self) -> int:
        return sum(excerpt.tokens for excerpt in self.excerpts)


def draw_all(console: Console, view: TreeView) -> None:
    """Draw the whole tree, one line for each node."""
    nodes = {node.id: node for node in view.nodes}
    leaves = sum(not node.children for node in view.nodes)
    top = Text(f"{len(nodes) - leaves:,} summaries over {leaves:,} parts", "bold")
    tree = Tree(top, guide_style="dim")
    for root in view.roots:
        _branch(console, tree, nodes[root], nodes)
    console.print(tree)


def draw_unfolded(
    console: Console, explained: Explanation, messages: Sequence[Message], *, scores: bool = False
) -> None:
    """Draw the content of one answer: summaries, and under them the beginnings of quoted messages.
    `scores`: list each excerpt by itself, with the reason it was chosen."""
    rules = [excerpt for excerpt in explained.excerpts if excerpt.reason == "rule"]
    others = [excerpt for excerpt in explained.excerpts if excerpt.reason != "rule"]
    count = f"{len(others):,} excerpt{'' if len(others) == 1 else 's'}, word for word"
    tree = Tree(Text(f"memory message: summaries, and {count}", "bold"), guide_style="dim")
    drawing = _Unfolded(console, messages, scores)
    drawing.hang(tree, explained.nodes, others)
    if rules:
        drawing.quote(tree.add(Text("standing rules, always shown", "bold")), rules)
    console.print(tree)


def draw_path(
    console: Console,
    explained: Explanation,
    messages: Sequence[Message],
    excerpts: Sequence[ExplainedExcerpt],
    *,
    mark: str = "",
) -> None:
    """Draw the summaries above these excerpts, and the excerpts' text; `mark` is highlighted in
    it."""
    above = {id_ for excerpt in excerpts for id_ in excerpt.path}
    nodes = [node for node in explained.nodes if node.id in above]
    top = Text(f"the whole conversation, messages 0 to {len(messages) - 1:,}", "bold")
    tree = Tree(top, guide_style="dim")
    branches = {ROOT: tree}
    for node in nodes:
        path = next(excerpt.path for excerpt in excerpts if node.id in excerpt.path)
        at = path.index(node.id)
        parent = branches.get(path[at - 1] if at else ROOT, tree)
        branches[node.id] = parent.add(_node_line(console, node))
    for quoted in quoted_messages(excerpts, messages):
        path = quoted.excerpts[0].path
        branch = branches.get(path[-1] if path else ROOT, tree)
        line = Text()
        line.append(f"message {quoted.message:,}, {plain(quoted.role)}: ", "cyan")
        line.append(one_line(" … ".join(quoted.texts), WHOLE_QUOTE))
        if mark:
            line.highlight_words([mark], "bold green")
        branch.add(line)
    console.print(tree)


def quoted_messages(
    excerpts: Iterable[ExplainedExcerpt], messages: Sequence[Message]
) -> Iterator[QuotedMessage]:
    """Group the excerpts by message, in the order of the conversation."""
    ordered = sorted(excerpts, key=lambda excerpt: (excerpt.message, excerpt.part, excerpt.start))
    for number, group in groupby(ordered, key=lambda excerpt: excerpt.message):
        own = tuple(group)
        message = messages[number]
        texts = tuple(quoted_text(message, excerpt) for excerpt in own)
        yield QuotedMessage(number, message.role, texts, own)


def quoted_text(message: Message, excerpt: ExplainedExcerpt) -> str:
    """Return the text of an excerpt, as it was posted."""
    return (message.string_at(excerpt.part) or "")[excerpt.start : excerpt.end]


def summary_line(answer: Answer) -> str:
    """Describe how much of the posted history was sent."""
    share = answer.sent_tokens / max(1, answer.raw_tokens)
    state = _STATES.get(State(answer.state), f"state {answer.state}")
    line = f"{answer.raw_tokens:,} tokens posted, {answer.sent_tokens:,} sent"
    if not answer.excerpts and not answer.outline_tokens:
        return f"{line}{f'; {state}' * bool(state)}"
    return (
        f"{line} ({share:.1%}): summaries of {answer.outline_tokens:,} tokens, {answer.excerpts:,} "
        f"excerpts, newest messages of {answer.recent_tokens:,} tokens{f'; {state}' * bool(state)}"
    )


@dataclass(frozen=True, slots=True)
class _Unfolded:
    """Draws the content of an answer to these messages."""

    console: Console
    messages: Sequence[Message]
    scores: bool

    def hang(
        self, tree: Tree, nodes: Sequence[ExplainedNode], excerpts: Sequence[ExplainedExcerpt]
    ) -> None:
        """Add nodes at their depth, and excerpts under the narrowest of theirs, all in order."""
        children: dict[bytes, list[ExplainedNode | ExplainedExcerpt]] = defaultdict(list)
        stack = [ROOT]
        for node in nodes:
            del stack[node.depth + 1 :]
            children[stack[-1]].append(node)
            stack.append(node.id)
        known = {node.id for node in nodes}
        for excerpt in excerpts:
            above = next((id_ for id_ in reversed(excerpt.path) if id_ in known), ROOT)
            children[above].append(excerpt)
        waiting = [(tree, ROOT)]
        while waiting:
            branch, id_ = waiting.pop()
            for kind, group in groupby(sorted(children[id_], key=_place), key=type):
                if kind is ExplainedNode:
                    for node in (item for item in group if isinstance(item, ExplainedNode)):
                        waiting.append((branch.add(_node_line(self.console, node)), node.id))
                else:
                    run = [item for item in group if isinstance(item, ExplainedExcerpt)]
                    self.quote(branch, run)

    def quote(self, branch: Tree, run: Sequence[ExplainedExcerpt]) -> None:
        """Draw a run of excerpts: a line for each message, or for each excerpt with its scores."""
        if self.scores:
            for excerpt in run:
                text = quoted_text(self.messages[excerpt.message], excerpt)
                scores = ", ".join(f"{name} {value:.2f}" for name, value in excerpt.scores.items())
                why = f"{excerpt.reason}{f': {scores}' if scores else ''}"
                branch.add(self._line(excerpt.message, text, f"  {excerpt.tokens} tokens, {why}"))
            return
        lines = list(quoted_messages(run, self.messages))
        shown = lines if len(lines) <= RUN else lines[: RUN - 1]
        for quoted in shown:
            branch.add(self._line(quoted.message, " … ".join(quoted.texts)))
        if left := lines[len(shown) :]:
            tokens = sum(quoted.tokens for quoted in left)
            more = f"… and of {len(left):,} more messages up to {left[-1].message:,}"
            branch.add(Text(f"{more}: {tokens:,} tokens", "dim"))

    def _line(self, message: int, text: str, scores: str = "") -> Text:
        line = _line(self.console)
        line.append(f"{message:,} {plain(self.messages[message].role)}: ", "cyan")
        line.append(f"“{one_line(text, BEGINNING)}”")
        line.append(scores, "dim")
        return line


def _place(child: ExplainedNode | ExplainedExcerpt) -> tuple[int, int]:
    if isinstance(child, ExplainedNode):
        return child.first, 0
    return child.message, 1


def _branch(
    console: Console, parent: Tree, node: TreeNode, nodes: Mapping[bytes, TreeNode]
) -> None:
    line = _node_line(console, node)
    if node.by_model:
        line.append(" (model)", "dim")
    branch = parent.add(line)
    for child in node.children:
        _branch(console, branch, nodes[child], nodes)


def _node_line(console: Console, node: TreeNode | ExplainedNode) -> Text:
    where = f"{node.first:,}" if node.first == node.last else f"{node.first:,}-{node.last:,}"
    line = _line(console)
    line.append(f"{where} ", "cyan")
    bold = isinstance(node, ExplainedNode) and node.body
    line.append(plain(node.headline), "bold" if bold else "")
    return line


def _line(console: Console) -> Text:
    """Return an empty line that is cut at the terminal's edge, or is never cut in a file."""
    if console.is_terminal:
        return Text(no_wrap=True, overflow="ellipsis")
    return Text()
