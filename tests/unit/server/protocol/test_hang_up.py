"""Who is told that a client has gone."""

from __future__ import annotations

from memtree_proxy.server.connection import HangUp


def test_who_watches_is_told_once():
    told: list[str] = []
    connection = HangUp()
    connection.watch(lambda: told.append("first"))
    connection.watch(lambda: told.append("second"))
    connection.tell()
    connection.tell()
    assert told == ["second"]


def test_a_request_that_is_over_is_not_told():
    told: list[str] = []
    connection = HangUp()

    def over() -> None:
        told.append("over")

    connection.watch(over)
    connection.unwatch(over)
    connection.tell()
    assert told == []


def test_the_next_request_watches_before_the_first_has_ended():
    told: list[str] = []

    def first() -> None:
        told.append("first")

    connection = HangUp()
    connection.watch(first)
    connection.watch(lambda: told.append("next"))
    connection.unwatch(first)
    connection.tell()
    assert told == ["next"]


def test_a_client_that_went_before_its_request_began():
    told: list[str] = []
    connection = HangUp()
    connection.tell()
    connection.watch(lambda: told.append("late"))
    assert told == ["late"]
