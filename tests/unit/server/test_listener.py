"""Sockets that are bound first: what is refused, and in which words."""

from __future__ import annotations

import errno
import os
import resource
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from memtree.errors import BadRequest
from memtree_proxy.server.listener import accept_backlog, bound, listen, refusal


def refused(host: str, port: int) -> BadRequest:
    with pytest.raises(BadRequest) as caught, bound(host, port) as sockets:
        listen(sockets, host)
    return caught.value


@contextmanager
def no_file_may_be_opened() -> Iterator[None]:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest = os.dup(0)  # all below are taken
    os.close(lowest)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def test_a_free_port_takes_connections_once_it_listens():
    with bound("127.0.0.1", 0) as sockets:
        address = sockets[0].getsockname()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(address, timeout=300)
        assert listen(sockets, "127.0.0.1") == address[1]
        socket.create_connection(address, timeout=300).close()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address, timeout=300)


def test_connections_that_wait_are_accepted_and_no_others():
    with bound("127.0.0.1", 0) as sockets, ExitStack() as stack:
        listen(sockets, "127.0.0.1")
        assert accept_backlog(sockets) == []
        address = sockets[0].getsockname()
        made = [stack.enter_context(socket.create_connection(address)) for _ in range(3)]
        found = [stack.enter_context(one) for one in accept_backlog(sockets)]
        assert [one.getpeername() for one in found] == [one.getsockname() for one in made]
        assert not any(one.getblocking() for one in found)
        assert accept_backlog(sockets) == []


def test_where_too_many_files_are_open_no_connection_is_accepted():
    with bound("127.0.0.1", 0) as sockets, ExitStack() as stack:
        listen(sockets, "127.0.0.1")
        stack.enter_context(socket.create_connection(sockets[0].getsockname()))
        with no_file_may_be_opened():
            assert accept_backlog(sockets) == []
        assert len([stack.enter_context(one) for one in accept_backlog(sockets)]) == 1


def test_a_name_with_several_addresses():
    with bound("localhost", 0) as sockets:
        families = {one.family for one in sockets}
        assert socket.AF_INET in families
        assert len(families) == len(sockets)


def test_a_port_that_is_taken():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        error = refused("127.0.0.1", port)
    assert f"127.0.0.1:{port}" in error.message
    assert "in use" in error.message
    assert "--port" in error.message


def test_a_port_that_is_taken_between_bind_and_listen():
    with bound("127.0.0.1", 0) as first:
        port = first[0].getsockname()[1]
        with bound("127.0.0.1", port) as second:
            listen(first, "127.0.0.1")
            with pytest.raises(BadRequest, match="in use"):
                listen(second, "127.0.0.1")


@pytest.mark.parametrize(
    ("host", "port", "param", "text"),
    [("127.0.0.1", 99_999, "port", "65535"), ("127.0.0.1", -1, "port", "65535"),
     ("203.0.113.9", 0, "port", "--host"), ("nowhere.invalid", 0, "host", "leads nowhere"),
     ("a" * 300, 0, "host", "leads nowhere")],
)  # fmt: skip
def test_what_cannot_be_listened_on(host: str, port: int, param: str, text: str):
    error = refused(host, port)
    assert error.param == param
    assert text in error.message


def test_words_for_a_port_that_needs_rights_and_for_anything_else():
    assert "above 1023" in refusal("::", 80, PermissionError(errno.EACCES, "x")).message
    assert "[::]:80" in refusal("::", 80, PermissionError(errno.EACCES, "x")).message
    assert "Too many" in refusal("a", 80, OSError(errno.EMFILE, "Too many open files")).message
