"""The folder for a user's data if no store is named.

It is `home` if that is set; else the platform's place for data of programs:

Linux and others   $XDG_DATA_HOME/memtree, else ~/.local/share/memtree
macOS              ~/Library/Application Support/memtree
Windows            %LOCALAPPDATA%\\memtree

A `memtree.db` in the current folder takes precedence, since older versions kept it there.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

from memtree.errors import BadRequest

NAME = "memtree"
STORE_FILE = "memtree.db"
SQLITE = "sqlite:///"
IN_THIS_FOLDER = f"{SQLITE}{STORE_FILE}"
NO_HOME = "HOME is not set, or names no folder"
NO_STORE = (
    f"There is no place for the store: {NO_HOME}. Name a folder with MEMTREE_HOME (--home), or a "
    f"file with MEMTREE_STORE (--store {SQLITE}PATH)."
)


def data_folder(home: str | None, env: Mapping[str, str], platform: str) -> Path | None:
    """Return the folder; None if the user's home is unknown, as in some containers. `platform`: as
    `sys.platform`."""
    if home:
        return expanded(home, "home")
    user = env.get("HOME") or env.get("USERPROFILE")
    if user and not (Path(user).is_absolute() and Path(user).is_dir()):
        user = None
    if platform == "win32":
        local = env.get("LOCALAPPDATA")
        return Path(local, NAME) if local else None
    if platform == "darwin":
        return Path(user, "Library", "Application Support", NAME) if user else None
    shared = env.get("XDG_DATA_HOME", "")
    if shared.startswith("/"):  # the standard says that relative paths must be ignored
        return Path(shared, NAME)
    return Path(user, ".local", "share", NAME) if user else None


def expanded(path: str, param: str) -> Path:
    """Expand `~` or `~NAME` at the start. Raises `BadRequest` for the setting `param` if that
    user's home is unknown."""
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        message = f"{param}: the home folder at the start of {path} is unknown"
        raise BadRequest(message, param=param) from error


def default_store(folder: Path | None) -> str:
    """Return the store used if none is named; empty if there is no place for it (`NO_STORE`)."""
    if Path(STORE_FILE).is_file():
        return IN_THIS_FOLDER
    if folder is None:
        return ""
    return f"{SQLITE}{folder / STORE_FILE}"


def is_left_behind(folder: Path) -> bool:
    """Return True if `default_store` gives the file of the current folder, and that is not in the
    data folder."""
    return Path(STORE_FILE).is_file() and folder.resolve() != Path.cwd()


def how_to_move(folder: Path, platform: str) -> str:
    """Return one line about a store that is used because it is in the current folder."""
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
