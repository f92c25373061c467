"""Settings: where each comes from, what is refused, and where data goes that has no place."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from memtree.budget.prices import Prices
from memtree.config import BASE_URLS, Settings, variable
from memtree.data_folder import (
    IN_THIS_FOLDER,
    STORE_FILE,
    data_folder,
    default_store,
    how_to_move,
    is_left_behind,
)
from memtree.errors import BadRequest
from memtree.setting_values import input_price, passthrough_route, price, window, without_password
from memtree.stores import open_store

# ------------------------------------------------------------------------------------------------
# Settings: flags before variables before the file before defaults; errors name the setting.


@pytest.fixture
def written(tmp_path):
    def write(text):
        path = tmp_path / "memtree.toml"
        path.write_text(text, "utf-8")
        return {"MEMTREE_CONFIG": str(path)}

    return write


def test_defaults(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # `make run` leaves a store in the clone, which would be taken
    # Without a home there is no place for a store: opening it says so.
    assert Settings.from_env(env={}) == replace(Settings(), store="")
    assert Settings().target_tokens == 20_000


def test_flags_then_variables_then_file_then_defaults(written):
    env = written("port = 1\nhost = 'file'\nmode = 'fresh'") | {
        "MEMTREE_PORT": "2",
        "MEMTREE_STORE": "memory:",
    }
    found = Settings.from_env({"port": 3, "host": None}, env)
    assert (found.port, found.host, found.store) == (3, "file", "memory:")
    assert Settings.from_env(env=env).port == 2


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("memory", "on", True),
        ("memory", "FALSE", False),
        ("index_processes", "0", False),
        ("upstream", "none", None),
        ("upstream", "http://localhost:1/v1", "http://localhost:1/v1"),
        ("volatile_tags", " a, b ,,", ("a", "b")),
        ("volatile_tags", "", ()),
        ("overflow_status", "400", 400),
        ("mode", "stable", "stable"),
        ("mode", "auto", "auto"),
        ("mode", "fresh", "fresh"),
        ("mode", "none", None),
        ("prices", "a=1/0.5, *=1.25/0.1/300", ("a=1/0.5", "*=1.25/0.1/300")),
        ("window", "a=8192, *=32768", ("a=8192", "*=32768")),
        ("input_prices", "a=1.25, b=0", ("a=1.25", "b=0")),
    ],
)
def test_variables_are_read_by_type(name, text, value):
    assert getattr(Settings.from_env(env={variable(name): text}), name) == value


def test_lists_in_the_file(written):
    assert Settings.from_env(env=written("volatile_tags = ['x']")).volatile_tags == ("x",)
    assert Settings.from_env(env=written("prices = ['x=1/0.5']")).prices == ("x=1/0.5",)
    assert Settings.from_env(env=written("window = ['x=8192']")).window == ("x=8192",)


@pytest.mark.parametrize(
    ("entry", "name", "prices"),
    [
        ("gpt-5=1/0.1", "gpt-5", Prices(1.0, 0.1, 3_600)),
        (" org/m =1.25/.1/300", "org/m", Prices(1.25, 0.1, 300)),
        ("*=2/2/0.5", "*", Prices(2.0, 2.0, 0.5)),
    ],
)
def test_an_entry_of_prices(entry, name, prices):
    assert price(entry) == (name, prices)


@pytest.mark.parametrize(
    "entry",
    ["", "gpt-5", "=1/0.1", "m=", "m=1", "m=1/0.1/60/1", "m=one/0.1", "m=0/0.1", "m=1/0", "m=1/-1",
     "m=101/1", "m=1/nan", "m=inf/1", "m=1/0.1/0", "m=1/0.1/inf", "m=1/0.1/nan", "m 1/0.1"],
)  # fmt: skip
def test_an_entry_of_prices_that_says_nothing(entry):
    with pytest.raises(BadRequest, match="prices: ") as caught:
        Settings.from_env({"prices": (entry,)}, env={})
    assert caught.value.param == "prices"


def test_an_entry_of_input_prices():
    assert input_price(" org/m = 2.5") == ("org/m", 2.5)
    assert input_price("m=0") == ("m", 0.0)


@pytest.mark.parametrize(
    "entry",
    ["", "gpt-5", "=1", "m=", "m=one", "m=-1", "m=nan", "m=inf", "m=1000001", "m=1/2", "5", "*=2"],
)
def test_an_entry_of_input_prices_that_says_nothing(entry):
    with pytest.raises(BadRequest, match="input_prices: ") as caught:
        Settings.from_env({"input_prices": (entry,)}, env={})
    assert caught.value.param == "input_prices"


@pytest.mark.parametrize(
    "entry", ["", "GET", "get /x", "GET x", "GET /a b", "GET /x?y", "GET /../x", "GET /*/x", "/x"]
)
def test_an_entry_of_passthrough_routes_that_names_no_route(entry):
    with pytest.raises(BadRequest, match="passthrough_routes: ") as caught:
        Settings.from_env({"passthrough_routes": (entry,)}, env={})
    assert caught.value.param == "passthrough_routes"


def test_what_an_entry_of_passthrough_routes_fits():
    assert passthrough_route("GET /models/*").fullmatch("HEAD /models/org/m:1")
    for path in (
        "/models",
        "/models/",
        "/models/..",
        "/models/a//b",
        "/models/a/../b",
        "/models/%2e",
    ):
        assert not passthrough_route("GET /models/*").fullmatch(f"GET {path}")
    found = passthrough_route("GET /a/{id}/b/{id}").fullmatch("GET /a/1/b/2")
    assert found is not None
    assert found.groups() == ("1", "2")
    assert not passthrough_route("GET /a.b").fullmatch("GET /aXb")
    assert passthrough_route("* /*").fullmatch("PURGE /a/b")


def test_an_entry_of_window():
    assert window(" org/m = 8192") == ("org/m", 8_192)
    assert window("*=1000000000") == ("*", 1_000_000_000)


@pytest.mark.parametrize(
    "entry",
    ["", "gpt-5", "=8192", "m=", "m=many", "m=8k", "m=-8192", "m=999", "m=1000000001", "m=8192.5",
     "m=8 192", "m=" + "9" * 5_000, "8192"],
)  # fmt: skip
def test_an_entry_of_window_that_says_nothing(entry):
    with pytest.raises(BadRequest, match="window: ") as caught:
        Settings.from_env({"window": (entry,)}, env={})
    assert caught.value.param == "window"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("port", "many"),
        ("port", "-1"),
        ("port", "65536"),
        ("target_tokens", "0"),
        ("memory", "maybe"),
        ("mode", "slow"),
        ("embedder", "gpt"),
        ("queue", "kafka"),
        ("overflow_status", "500"),
        ("log_level", "loud"),
        ("upstream", "localhost:1"),
        ("otel_endpoint", "http://localhost:0"),  # nobody listens on it
        ("summary_api_key", "sk-1\nx-other: 2"),  # it would be another header
        ("embedding_api_key", "sk-é"),
        ("embedding_seconds", "0"),
        ("embedding_seconds", "-1"),
        ("embedding_seconds", "inf"),
        ("embedding_seconds", "nan"),
        ("trusted_proxies", "10.0.0.0/33"),
        ("trusted_proxies", "10.0.0.1/8"),  # bits behind the prefix
        ("trusted_proxies", "10.0.0.0/8, proxy.example.com"),
    ],
)
def test_a_bad_value_names_its_setting(name, text):
    with pytest.raises(BadRequest) as caught:
        Settings.from_env(env={variable(name): text})
    assert caught.value.param == name


def test_a_file_that_is_named_must_be_there(tmp_path):
    with pytest.raises(BadRequest, match="there is no file"):
        Settings.from_env(env={"MEMTREE_CONFIG": str(tmp_path / "none.toml")})


@pytest.mark.parametrize("text", ["port = ", "prot = 1"])
def test_a_file_that_cannot_be_read(written, text):
    with pytest.raises(BadRequest):
        Settings.from_env(env=written(text))


@pytest.mark.parametrize(
    "text",
    [
        "host = 5",
        "store = 5",
        "memory = 5",
        "volatile_tags = 5",
        "port = true",
        "mode = 5",
        "prices = 5",
        "window = 8192",
        "prices = [5]",
        "volatile_tags = [['x']]",
        "prices = 'gpt-5'",
    ],
)
def test_a_value_of_another_type_in_the_file(written, text):
    with pytest.raises(BadRequest):
        Settings.from_env(env=written(text))


def test_a_misspelt_name_is_told_with_the_one_that_is_meant(written):
    said = []
    env = {"MEMTREE_TARGT_TOKENS": "5", "MEMTREE_QXZ": "secret", "MEMTREE_PORT": "1"}
    assert Settings.from_env(env=env, tell=said.append).port == 1
    assert said == [
        "there is no such setting: MEMTREE_QXZ, MEMTREE_TARGT_TOKENS (MEMTREE_TARGET_TOKENS?)"
    ]
    with pytest.raises(BadRequest, match="'upstraem'; did you mean upstream"):
        Settings.from_env(env=written("upstraem = 'none'"))


ROUTES = (
    "/chat/completions", "//chat/completions//", "/messages", "/messages/count_tokens/",
    "/responses", "/completions", "/embeddings", "/chat_completions", "/models", "/chat",
)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "route"),
    [*(("upstream", route) for route in ROUTES), *((name, ROUTES[0]) for name in BASE_URLS[1:])],
)
def test_a_route_at_the_end_of_a_base_url_is_left_out_and_told(name: str, route: str):
    said: list[str] = []
    base, model = "http://llm.example.com/up/v1", f"{name.partition('_')[0]}_model"
    flags = {name: base + route, **({model: "m"} if hasattr(Settings(), model) else {})}
    assert getattr(Settings.from_env(flags, {}, tell=said.append), name) == base
    assert said == [f"{name} is a base URL: {base} without the route behind it"]


@pytest.mark.parametrize(
    "url",
    ["http://h/v1", "http://h/v1/", "https://h/models", "http://responses/v1", "none", "auto",
     "https://h/openai/deployments/chat"],
)  # fmt: skip
def test_other_base_urls_stay(url: str):
    said: list[str] = []
    settings = Settings.from_env({"anthropic_upstream": url}, {}, tell=said.append)
    assert (settings.anthropic_upstream or "none", said) == (url, [])


# ------------------------------------------------------------------------------------------------
# The setting `queue`: what it may be, and that its password is told to nobody.


@pytest.mark.parametrize(
    "url",
    [
        "inprocess",
        "redis://localhost:6379/0",
        "redis://:pa55word@localhost:6379/0",
        "rediss://user:pa55word@redis.example:6380/1",
        "unix:///run/redis.sock",
        "unix:///run/redis.sock?db=2",
    ],
)
def test_what_it_may_be(url):
    given = Settings.from_env(env={"MEMTREE_QUEUE": url})
    assert given.queue == url
    assert "pa55word" not in repr(given)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "redis",
        "redis://",
        "unix://",
        "http://h:1/pa55word",
        "redis://:pa55word@h:0/0",
        "redis://:pa55word@h:99999/0",
    ],
)
def test_what_it_may_not_be(url):
    with pytest.raises(BadRequest) as caught:
        Settings.from_env(env={"MEMTREE_QUEUE": url})
    assert caught.value.param == "queue"
    assert "pa55word" not in caught.value.message


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("inprocess", "inprocess"),
        ("sqlite:///a/b.db", "sqlite:///a/b.db"),
        ("redis://h:1/0", "redis://h:1/0"),
        ("redis://:s@h:1/0", "redis://***@h:1/0"),
        ("postgresql://u:s/s@s@h/db", "postgresql://***@h/db"),
        ("unix:///x.sock?password=s", "unix:///x.sock?***"),
    ],
)
def test_what_is_shown_of_a_url(url, shown):
    assert without_password(url) == shown


# ------------------------------------------------------------------------------------------------
# Where data goes that nobody names a place for, and what is said of a file that lies elsewhere.


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
