"""The setting `queue`: what it may be, and that its password is told to nobody."""

from __future__ import annotations

import pytest

from memtree.config import Settings
from memtree.errors import BadRequest
from memtree.settings.setting_values import without_password


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
