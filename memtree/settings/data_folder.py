"""The folder that holds a user's data where no store is named.

`home` where it is set; else the place that the platform has for data of programs:

Linux and others   $XDG_DATA_HOME/memtree, else ~/.local/share/memtree
macOS              ~/Library/Application Support/memtree
Windows            %LOCALAPPDATA%\\memtree

A `memtree.db` in the current folder goes first: before there was such a folder, it was kept there.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

NAME = "memtree"
STORE_FILE = "memtree.db"
SQLITE = "sqlite:///"
IN_THIS_FOLDER = f"{SQLITE}{STORE_FILE}"


def data_folder(home: str | None, env: Mapping[str, str], platform: str) -> Path | None:
    """None where nothing says where the user's files are, as in some containers. `platform`: as
    `sys.platform`."""
    if home:
        return Path(home).expanduser()
    user = env.get("HOME") or env.get("USERPROFILE")
    if platform == "win32":
        local = env.get("LOCALAPPDATA")
        return Path(local, NAME) if local else None
    if platform == "darwin":
        return Path(user, "Library", "Application Support", NAME) if user else None
    shared = env.get("XDG_DATA_HOME", "")
    if shared.startswith("/"):  # others are to be ignored, says the standard
        return Path(shared, NAME)
    return Path(user, ".local", "share", NAME) if user else None


def default_store(folder: Path | None) -> str:
    """The store of who names none."""
    if folder is None or Path(STORE_FILE).is_file():
        return IN_THIS_FOLDER
    return f"{SQLITE}{folder / STORE_FILE}"


def is_left_behind(folder: Path) -> bool:
    """Return True if `default_store` gives the file of the current folder, and that is another
    one."""
    return Path(STORE_FILE).is_file() and folder.resolve() != Path.cwd()


def how_to_move(folder: Path, platform: str) -> str:
    """One line about a store that is used since it lies in the current folder."""
    target = folder / STORE_FILE
    if target.exists():
        return f"using {STORE_FILE} in this folder, as before, not {target}; --store says which one"
    if platform == "win32":
        make, move = f'mkdir "{folder}"', f'move {STORE_FILE}* "{folder}"'
    else:
        place = shlex.quote(str(folder))
        make, move = f"mkdir -p {place}", f"mv {STORE_FILE}* {place}/"
    steps = move if folder.is_dir() else f"{make} && {move}"
    return f"using {STORE_FILE} in this folder, as before; to keep it with your other data: {steps}"
