"""The terminal in which all commands draw."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from memtree_proxy.cli.foreign_text import plain


def open_console(*, stderr: bool = False) -> Console:
    """Return a console that reads no text as markup or as the name of an emoji. Without a terminal
    it draws neither colours nor bars."""
    return Console(stderr=stderr, markup=False, emoji=False, highlight=False)


def styled(text: str, style: str = "") -> Text:
    """Return foreign text in a style of the command's own."""
    return Text(plain(text), style)
