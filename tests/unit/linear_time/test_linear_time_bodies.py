"""Reading the bodies of memory routes takes time linear in what is posted."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import msgspec
import pytest
from starlette.datastructures import Headers

from memtree.errors import MemTreeError
from memtree.memories.scope import is_placeholder
from memtree.wire.json_body import Body, split
from memtree_proxy.http.decoding import decode
from memtree_proxy.http.headers import own_values
from memtree_proxy.wire.curation import UserBulkDeletion
from memtree_proxy.wire.documents import new_documents
from memtree_proxy.wire.grants import PostedGrant
from memtree_proxy.wire.schemas import NewSchema
from tests.hostile_texts import hostile
from tests.hostile_texts.linear_time import Subject, slow


def reading(read: Callable[[Body], object]) -> Callable[[str], None]:
    """Read a body; a refusal counts as an answer."""

    def of(posted: str) -> None:
        with suppress(MemTreeError):
            read(split(posted.encode()))

    return of


def _documents(text: str) -> str:
    document = {"text": text[: len(text) // 4], "type": "a", "metadata": {"a": text[:200]}}
    return msgspec.json.encode({"documents": [document] * 4}).decode()


def _schema(text: str) -> str:
    return msgspec.json.encode({"schema": text, "uniqueOn": text.split()[:50]}).decode()


def _filter(text: str) -> str:
    return msgspec.json.encode({"ids": text.split(" "), "filter": {"tags": [text]}}).decode()


def _repeated(text: str) -> list[str]:
    return own_values(Headers(raw=[(b"x-user-id", text.encode()[:65_536])] * 9), "x-user-id")


BODIES = {
    "a placeholder": Subject(is_placeholder, str),
    "a repeated header": Subject(_repeated, str),
    "documents": Subject(reading(new_documents), _documents),
    "a schema": Subject(reading(lambda body: decode(NewSchema, body).parts()), _schema),
    "a share code": Subject(
        reading(lambda body: decode(PostedGrant, body).signed()),
        lambda text: msgspec.json.encode({"shareCode": text}).decode(),
    ),
    "a deletion": Subject(
        reading(lambda body: decode(UserBulkDeletion, body).wanted(purged=False)), _filter
    ),
}


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", BODIES)
def test_no_shape_of_a_body_takes_more_than_its_share_of_time(name: str):
    assert list(slow(BODIES[name], hostile.shapes(), 1 << 15)) == []
