"""Where data goes that nobody names a place for, and what is said of a file that lies elsewhere."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from memtree.config import Settings
from memtree.errors import BadRequest
from memtree.settings.data_folder import (
    IN_THIS_FOLDER,
    STORE_FILE,
    data_folder,
    default_store,
    how_to_move,
    is_left_behind,
)
from memtree.stores import open_store

HOME = {"HOME": "/usr"}


@pytest.mark.parametrize(
    ("home", "env", "platform", "folder"),
    [
        (None, HOME, "linux", "/usr/.local/share/memtree"),
        (None, HOME | {"XDG_DATA_HOME": "/data"}, "linux", "/data/memtree"),
        (None, HOME | {"XDG_DATA_HOME": "data"}, "linux", "/usr/.local/share/memtree"),
        (None, HOME, "darwin", "/usr/Library/Application Support/memtree"),
        (None, {"LOCALAPPDATA": "/c/Local"}, "win32", "/c/Local/memtree"),
        ("/srv/memtree", HOME, "linux", "/srv/memtree"),
        (".", HOME, "win32", "."),
    ],
)
def test_each_platform_has_its_folder(
    home: str | None, env: dict[str, str], platform: str, folder: str
) -> None:
    assert data_folder(home, env, platform) == Path(folder)


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
@pytest.mark.parametrize("home", [None, "", "/nobody/is/here", "relative"])
def test_without_a_home_there_is_none(
    platform: str, home: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("relative").mkdir()
    env = {} if home is None else {"HOME": home}
    assert data_folder(None, env, platform) is None
    if platform == sys.platform:
        with pytest.raises(BadRequest, match=r"MEMTREE_HOME \(--home\), or .* MEMTREE_STORE"):
            open_store(Settings.from_env({}, env).store)
    assert list(tmp_path.iterdir()) == [tmp_path / "relative"]
    assert Settings.from_env({"store": "memory:"}, env).store == "memory:"
    Path(STORE_FILE).touch()  # as older versions made it
    assert Settings.from_env({}, env).store == IN_THIS_FOLDER


@pytest.mark.parametrize("setting", [{"store": "sqlite:///~nobody-here/a.db"}, {"home": "~no/a"}])
def test_an_unknown_home_in_a_path_names_its_setting(setting: dict[str, str]) -> None:
    (name,) = setting
    with pytest.raises(BadRequest, match=f"{name}: the home folder .* is unknown") as caught:
        open_store(Settings.from_env(setting, {}).store)
    assert caught.value.param == name


def test_a_store_in_this_folder_goes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    home = tmp_path / "home"
    assert default_store(home) == f"sqlite:///{home}/memtree.db"
    assert default_store(Path(".")) == "sqlite:///memtree.db"
    assert not is_left_behind(home)
    Path("memtree.db").touch()
    assert default_store(home) == "sqlite:///memtree.db"
    assert is_left_behind(home)
    assert not is_left_behind(Path("."))


def test_how_to_move_is_a_line_for_the_shell(tmp_path: Path) -> None:
    folder = tmp_path / "my data"
    assert how_to_move(folder, "linux").endswith(
        f": mkdir -p '{folder}' && mv memtree.db* '{folder}'/"
    )
    assert how_to_move(folder, "win32").endswith(
        f': mkdir "{folder}" && move memtree.db* "{folder}"'
    )
    folder.mkdir()
    assert how_to_move(folder, "linux").endswith(f": mv memtree.db* '{folder}'/")
    (folder / "memtree.db").touch()
    assert f"not {folder}/memtree.db; --store" in how_to_move(folder, "linux")


def test_settings_tell_of_it_unless_a_store_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said: list[str] = []
    env = {"MEMTREE_HOME": str(tmp_path / "home")}
    assert Settings.from_env({}, env, tell=said.append).store.endswith("/home/memtree.db")
    assert said == []
    Path("memtree.db").touch()
    assert Settings.from_env({}, env, tell=said.append).store == "sqlite:///memtree.db"
    (line,) = said
    assert line.startswith("using memtree.db in this folder")
    for named in ({"store": "sqlite:///memtree.db"}, {"store": "memory:"}):
        assert Settings.from_env(named, env, tell=said.append).store == named["store"]
    assert len(said) == 1
