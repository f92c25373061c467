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
from memtree.models.chat_reply import (
    REFUSED,
    CallRefused,
    ChatReply,
    KnownFormats,
    ResponseFormat,
    body,
    read_answer,
    refusal_in,
)
from memtree.ports.models import ModelAnswer, ModelQuestion, Usage
from memtree.text import tokens
from memtree_proxy.chat.reply import beginning
from memtree_proxy.http import request_trace
from memtree_proxy.http.access_auth import Tenant
from memtree_proxy.http.headers import CREDENTIALS, request_headers
from memtree_proxy.upstream.relay import WHOLE
from memtree_proxy.upstream.upstream_client import Outgoing
from memtree_proxy.upstream.upstreams import UPSTREAMS, Destination, Upstreams

PATH = "/chat/completions"
SECONDS = 120.0  # of all calls of one request
_RELAYED = CREDENTIALS - {b"cookie"} | {b"openai-organization", b"openai-project", b"user-agent"}


class CallerModel:
    """An `AskedModel` for one request, which learns from refusals what its server accepts."""

    def __init__(self, request: Request, tenant: Tenant, upstreams: Upstreams, model: str) -> None:
        self._request, self._tenant = request, tenant
        self._upstreams: Upstreams = request.scope.get(UPSTREAMS, upstreams)
        self._model = model
        self._forms = KnownFormats()
        self._ends = asyncio.get_running_loop().time() + SECONDS

    async def ask(self, tenant: str, question: ModelQuestion) -> ModelAnswer:
        """Ask, in another form if the server refuses one. Returns no text if it refuses the prompt.
        Raises the errors of `Upstream.send`, `UpstreamRefused`, `UpstreamTimeout` if the time of
        the request is over, and `ModelNeeded` if this server has no upstream."""
        usage = Usage()

        async def call(form: ResponseFormat) -> ChatReply:
            nonlocal usage
            said = await self._call(
                body(form, self._model, question.messages, question.room, question.schema)
            )
            usage += said.usage or said.used(
                sum(tokens.count_many(message["content"] for message in question.messages))
            )
            return said

        try:
            async with asyncio.timeout_at(self._ends):
                said = await self._forms.ask(question, call)
        except CallRefused as error:
            raise UpstreamRefused(error.message, param="model") from None
        except TimeoutError:
            raise UpstreamTimeout(
                f"The upstream did not answer for this request in {SECONDS:.0f} s."
            ) from None
        return ModelAnswer(said.text, not said.cut, usage)

    def _destination(self) -> Destination:
        try:
            return self._upstreams.of(PATH, self._request.headers)
        except NoUpstream as error:
            raise ModelNeeded(
                f"model needs an upstream that it can be asked at. {error.message}", param="model"
            ) from None

    async def _call(self, content: Mapping[str, Any]) -> ChatReply:
        upstream, api_key, key_header = self._destination()
        posted = request_headers(
            self._request.scope["headers"],
            keyed=self._tenant.keyed,
            api_key=api_key,
            key_header=key_header,
        )
        headers = [(name, value) for name, value in posted if name.lower() in _RELAYED]
        headers += [(b"content-type", b"application/json"), (b"accept-encoding", b"identity")]
        with request_trace.of(self._request.scope).calling(headers) as call:
            reply = await upstream.send(
                Outgoing("POST", PATH, call.headers, msgspec.json.encode(content))
            )
            call.status = reply.status
        try:
            answer = await beginning(reply, WHOLE)
        finally:
            reply.close()
        if reply.status != 200:
            message = (
                f"The upstream answered with status {reply.status} when the model was asked that "
                "the request names."
            )
            if reply.status in REFUSED:
                raise CallRefused(message, refusal_in(answer))
            raise UpstreamRefused(message, param="model")
        said = read_answer(answer)
        if said is None:
            raise UpstreamFailed("The upstream answered with no chat completion.")
        return said
