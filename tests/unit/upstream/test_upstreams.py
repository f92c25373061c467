"""Each request goes to the upstream of its API, and no key goes to the other's address."""

from __future__ import annotations

from typing import Any

import pytest

from memtree.config import DEFAULT_UPSTREAM, Settings
from memtree.errors import BadRequest, NoUpstream
from memtree_proxy.upstream.upstreams import ANTHROPIC, Upstreams, anthropic_base, is_for_anthropic

OWN = "http://127.0.0.1:11434/v1"
VERSION = {"anthropic-version": "2023-06-01"}


@pytest.mark.parametrize(
    ("given", "base"),
    [
        ({}, ANTHROPIC),
        ({"upstream": OWN}, OWN),
        ({"upstream": None}, None),
        ({"anthropic_upstream": None}, None),
        ({"upstream": OWN, "anthropic_upstream": None}, None),
        ({"upstream": OWN, "anthropic_upstream": "http://a.example"}, "http://a.example/v1"),
        ({"upstream": None, "anthropic_upstream": "http://a.example/v1"}, "http://a.example/v1"),
        ({"anthropic_upstream": "https://a.example/api/anthropic/"}, "https://a.example/api/anthropic/v1"),
    ],
)  # fmt: skip
def test_the_vendors_address_only_beside_the_other_vendors(given: dict[str, Any], base: str | None):
    assert anthropic_base(Settings(**given)) == base


@pytest.mark.parametrize(
    ("path", "headers", "theirs"),
    [
        ("/v1/messages", {}, True),
        ("/messages", {}, True),
        ("/api/v1/messages/batches/b_1/results", {}, True),
        ("/v1/messages/count_tokens", {}, True),
        ("/v1/models", VERSION, True),
        ("/v1/files/f_1/content", VERSION, True),
        ("/v1/models", {}, False),
        ("/v1/files", {}, False),
        ("/v1/chat/completions", VERSION, False),
        ("/v1/responses", VERSION, False),
        ("/v1/messagesque", {}, False),
        ("/v1/threads/t/messages", {}, False),
        ("/", VERSION, False),
    ],
)
def test_the_api_of_a_request(path: str, headers: dict[str, str], theirs: bool):
    assert is_for_anthropic(path, headers) is theirs


async def test_each_has_its_own_key_in_its_own_header():
    settings = Settings(
        upstream=OWN,
        upstream_api_key="sk-open",
        anthropic_upstream="http://a.example",
        anthropic_upstream_api_key="sk-ant",
    )
    both = Upstreams.of_settings(settings)
    assert both.of("/v1/messages", {})[1:] == ("sk-ant", b"x-api-key")
    assert both.of("/api/hello", {})[1:] == ("sk-ant", b"x-api-key")
    assert both.of("/v1/chat/completions", {})[1:] == ("sk-open", b"authorization")
    assert both.of("/v1/responses", {})[1:] == ("sk-open", b"authorization")
    await both.close()


async def test_one_upstream_for_both_gets_its_own_key_alone():
    settings = Settings(upstream=OWN, upstream_api_key=None, anthropic_upstream_api_key="sk-ant")
    one = Upstreams.of_settings(settings)
    assert one.of("/v1/messages", {}) == one.of("/v1/chat/completions", {})
    assert one.of("/v1/messages", {}).api_key is None
    assert one.of("/api/hello", {}) == one.of("/v1/models", {})
    await one.close()


@pytest.mark.parametrize(
    ("given", "path", "named"),
    [
        ({"upstream": None}, "/v1/chat/completions", "--upstream"),
        ({"upstream": None}, "/v1/messages", "--anthropic-upstream"),
        ({"anthropic_upstream": None}, "/v1/messages", "MEMTREE_ANTHROPIC_UPSTREAM"),
        ({"anthropic_upstream": None}, "/v1/models", None),
    ],
)
async def test_what_is_not_there_is_named(given: dict[str, Any], path: str, named: str | None):
    some = Upstreams.of_settings(Settings(**given))
    if named is None:
        assert some.of(path, {}) == some.openai
    else:
        with pytest.raises(NoUpstream, match=named):
            some.of(path, {})
    await some.close()


@pytest.mark.parametrize("url", ["http://", "http://u:p@a.example", "http://a.example?key=1"])
def test_an_address_that_is_none_names_its_setting(url: str):
    with pytest.raises(BadRequest) as raised:
        Upstreams.of_settings(Settings(anthropic_upstream=url))
    assert raised.value.param == "anthropic_upstream"


def test_the_default_is_the_vendors():
    assert Settings().upstream == DEFAULT_UPSTREAM
