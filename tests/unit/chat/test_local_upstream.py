"""Check whether an upstream is a machine of one's own, told from its URL alone."""

from __future__ import annotations

import socket

import pytest

from memtree_proxy.chat.request_fields import is_local

LOCAL = [
    # loopback
    "http://localhost:11434/v1", "http://LOCALHOST", "http://localhost./v1", "http://127.0.0.1:8000",
    "http://127.9.9.9/v1", "http://[::1]:8000/v1", "http://[0:0:0:0:0:0:0:1]/",
    "http://[::ffff:127.0.0.1]:80/v1", "http://[::ffff:7f00:1]/v1", "http://127.1/v1",
    "http://2130706433/v1", "http://0x7f000001/v1", "http://0177.0.0.1/v1",
    # this machine, as servers print what they listen on
    "http://0.0.0.0:8080/v1", "http://[::]:8080/v1",
    # private and link-local
    "http://10.0.0.1/v1", "http://172.16.0.1/v1", "http://172.31.255.255/v1",
    "https://192.168.1.7:8443/v1", "http://169.254.10.20/v1", "http://[fd12:3456::1]:8000/v1",
    "http://[fc00::7]/v1", "http://[fe80::1]/v1", "http://[fe80::1%25en0]:8000/v1",
    "http://[::ffff:192.168.0.4]/v1", "http://[::ffff:10.1.2.3]:11434/v1",
    # names
    "http://ollama:11434/v1", "http://gpu-box/v1", "http://my_service:80", "http://studio.local:1234",
    "http://models.localhost/v1", "http://host.docker.internal:11434/v1",
    "http://HOST.docker.INTERNAL.:11434/v1",
    # with credentials, which may look like a host
    "http://me:secret@localhost:4000/v1", "http://api.openai.com:x@192.168.0.2/v1",
]  # fmt: skip
REMOTE = [
    "https://api.openai.com/v1", "https://openrouter.ai/api/v1", "http://8.8.8.8/v1",
    "http://172.15.0.1/v1", "http://172.32.0.1/v1", "http://192.169.0.1/v1", "http://11.0.0.1/v1",
    "http://100.64.0.1/v1", "http://203.0.113.5/v1", "http://134744072/v1", "http://8.8/v1",
    "http://[2001:4860:4860::8888]/v1", "http://[::ffff:8.8.8.8]/v1", "http://[fec0::1]/v1",
    # what only looks local
    "https://localhost.example.com/v1", "https://notlocalhost.dev/v1", "https://local.example/v1",
    "https://127.0.0.1.example.com/v1", "https://host.docker.internal.example.com/v1",
    "https://docker.internal/v1", "https://mylocal.com", "https://10.0.0.1.nip.io/v1",
    "http://localhost@models.example.com/v1", "http://localhost:80@models.example.com/v1",
    "https://models.example.com/localhost", "https://models.example.com/?host=localhost",
    "https://models.example.com/#localhost",
    # nothing to go to
    "", "http://", "http:///v1", "http://:8000/v1", "localhost", "http://[::1", "http://[::g]/v1",
    "http://999.1.1.1/v1", None,
]  # fmt: skip


@pytest.fixture(autouse=True)
def _nothing_is_resolved(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise AssertionError("a name was looked up")

    for name in ("getaddrinfo", "gethostbyname", "gethostbyname_ex", "create_connection"):
        monkeypatch.setattr(socket, name, refused)
    is_local.cache_clear()


@pytest.mark.parametrize("url", LOCAL)
def test_a_machine_of_ones_own(url: str) -> None:
    assert is_local(url)


@pytest.mark.parametrize("url", REMOTE)
def test_any_other(url: str | None) -> None:
    assert not is_local(url)
