"""The terminal, as all commands draw in it."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from memtree_proxy.cli.drawing.foreign_text import plain


def open_console(*, stderr: bool = False) -> Console:
    """A terminal in which no text is read as markup or as the name of an emoji. It may be no
    terminal: then there are neither colours nor bars."""
    return Console(stderr=stderr, markup=False, emoji=False, highlight=False)


def styled(text: str, style: str = "") -> Text:
    """A text of others in a style of ours."""
    return Text(plain(text), style)
