"""Ask the model that a request names, at the upstream that the caller's chats go to.

The call carries the caller's own credential, or the key that the server lends to the caller's
chats. Of the other headers of the request only `_RELAYED` ones are sent: the call is ours, not the
client's. Its body is never logged, nor is the upstream's error: some servers quote what they
refuse.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import msgspec
from starlette.requests import Request

from memtree.errors import (
    ModelNeeded,
    NoUpstream,
    UpstreamFailed,
    UpstreamRefused,
    UpstreamTimeout,
)
from memtree.models.chat.chat_reply import REFUSED, ChatReply, read_answer, refusal
from memtree.models.chat.response_format import KnownFormats, ResponseFormat, body
from memtree.ports.chat_model import ModelAnswer, ModelQuestion
from memtree.text import tokens
from memtree_proxy.access.auth import Tenant
from memtree_proxy.chat.reply import beginning, upstream_error
from memtree_proxy.http.headers import CREDENTIALS, request_headers
from memtree_proxy.observability import request_trace
from memtree_proxy.upstream.client import Outgoing
from memtree_proxy.upstream.upstreams import Destination, Upstreams
from memtree_proxy.upstream.wrapped_path import UPSTREAMS

PATH = "/chat/completions"
SECONDS = 120.0  # of one call
LONGEST = 16 << 20  # bytes of an answer; a model's text has some 100 kB
_RELAYED = CREDENTIALS - {b"cookie"} | {b"openai-organization", b"openai-project", b"user-agent"}


class CallerModel:
    """An `AskedModel` for one request, which learns from refusals what its server accepts."""

    def __init__(self, request: Request, tenant: Tenant, upstreams: Upstreams, model: str) -> None:
        self._request, self._tenant = request, tenant
        self._upstreams: Upstreams = request.scope.get(UPSTREAMS, upstreams)
        self._model = model
        self._forms = KnownFormats()

    async def ask(self, tenant: str, question: ModelQuestion) -> ModelAnswer:
        """Ask, in another form if the server refuses one. Raises the errors of `Upstream.send`,
        `UpstreamRefused`, and `ModelNeeded` if this server has no upstream."""
        sent = sum(tokens.count_many(message["content"] for message in question.messages))
        form, said = await self._formed(question, self._forms.form)
        usage = said.used(sent)
        # An answer that began and was cut off is too long by itself; more room is only for
        # reasoning.
        begun = question.key in said.text.lower() or question.fruitful(said.text, not said.cut)
        if said.cut and not begun and (larger := self._forms.grow(form)):
            _, said = await self._formed(question, larger)
            usage += said.used(sent)
        return ModelAnswer(said.text, not said.cut, usage)

    async def _formed(
        self, question: ModelQuestion, form: ResponseFormat
    ) -> tuple[ResponseFormat, ChatReply]:
        """Return the reply, and the form in which the server accepted the call."""
        tried = form
        while True:
            status, content = await self._call(
                body(tried, self._model, question.messages, question.room, question.schema)
            )
            if status in REFUSED:
                about = refusal(upstream_error(status, content))
                lesser = self._forms.without(tried, about)
                if lesser is not None:
                    tried = lesser
                    continue
            if status != 200:
                raise UpstreamRefused(
                    f"The upstream answered with status {status} when the model was asked that "
                    "the request names.",
                    param="model",
                )
            said = read_answer(content)
            if said is None:
                raise UpstreamFailed("The upstream answered with no chat completion.")
            useful = question.fruitful(said.text, not said.cut) or said.cut
            self._forms.worked(tried, tried != form, useful)
            if said.thinks:
                self._forms.thinks()
            return tried, said

    def _destination(self) -> Destination:
        try:
            return self._upstreams.of(PATH, self._request.headers)
        except NoUpstream as error:
            raise ModelNeeded(
                f"model needs an upstream that it can be asked at. {error.message}", param="model"
            ) from None

    async def _call(self, content: Mapping[str, Any]) -> tuple[int, bytes]:
        upstream, api_key, key_header = self._destination()
        posted = request_headers(
            self._request.scope["headers"],
            keyed=self._tenant.keyed,
            api_key=api_key,
            key_header=key_header,
        )
        headers = [(name, value) for name, value in posted if name.lower() in _RELAYED]
        headers += [(b"content-type", b"application/json"), (b"accept-encoding", b"identity")]
        try:
            async with asyncio.timeout(SECONDS):
                with request_trace.of(self._request.scope).calling(headers) as call:
                    reply = await upstream.send(
                        Outgoing("POST", PATH, call.headers, msgspec.json.encode(content))
                    )
                    call.status = reply.status
                try:
                    return reply.status, await beginning(reply, LONGEST)
                finally:
                    reply.close()
        except TimeoutError:
            raise UpstreamTimeout(f"The upstream did not answer in {SECONDS:.0f} s.") from None
