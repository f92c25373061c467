"""Serves agents' memories on `/memories`, except searches, single and batched.

Memories are extracted from a conversation by the model that the request names, at the upstream that
the caller's chats go to.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from memtree.agents.agent_memory import AgentScopes, LocatedMemory
from memtree.agents.agent_messages import ConversationReaders
from memtree.errors import ModelNeeded, NoUpstream, UpstreamFailed, UpstreamRefused, UpstreamTimeout
from memtree.jobs.agent_services import AgentServices
from memtree.jobs.spending import AskedModel, CountedModel
from memtree.memories.scope import Scope
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
from memtree_proxy.api.memory_requests import MEMORY, AgentRequests, if_version, naming, unknown
from memtree_proxy.chat.memory_switch import strip_suffix
from memtree_proxy.chat.upstream_reply import beginning
from memtree_proxy.http import request_trace
from memtree_proxy.http.auth import AGENT_FIELDS, Tenant, queried_agents, user_scope
from memtree_proxy.http.decoding import queried
from memtree_proxy.http.headers import CREDENTIALS, request_headers
from memtree_proxy.upstream.relay import WHOLE
from memtree_proxy.upstream.upstream_client import Outgoing
from memtree_proxy.upstream.upstreams import UPSTREAMS, Upstreams
from memtree_proxy.wire.agent_memory_bodies import (
    AgentListing,
    AgentMemoryAnswer,
    AgentMemoryEdit,
    BatchDeletion,
    BatchUpdate,
    BatchUpdated,
    NewAgentMemories,
    NewAgentMemoryBatch,
    Stored,
    agent_memory,
    agent_page,
    known_ids,
    stored_memories,
)
from memtree_proxy.wire.routes import answer, counted, route
from memtree_proxy.wire.user_memory_bodies import MemoryDeleted
from memtree_proxy.wire.values import Deleted, Deleting

PATH = "/chat/completions"
SECONDS = 120.0  # of all calls of one request
_RELAYED = CREDENTIALS - {b"cookie"} | {b"openai-organization", b"openai-project", b"user-agent"}

OpenReaders = Callable[[AskedModel | None], tuple[ConversationReaders, CountedModel | None]]


class CallerModel:
    """An `AskedModel` for one request, which learns from refusals what its server accepts.

    The call carries the caller's own credential, or the key that the server lends to the caller's
    chats. Of the other headers of the request only `_RELAYED` ones are sent: the call is ours, not
    the client's. Its body is never logged, nor is the upstream's error: some servers quote what
    they refuse.
    """

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

    async def _call(self, content: Mapping[str, Any]) -> ChatReply:
        try:
            upstream, api_key, key_header = self._upstreams.of(PATH, self._request.headers)
        except NoUpstream as error:
            raise ModelNeeded(
                f"model needs an upstream that it can be asked at. {error.message}", param="model"
            ) from None
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


class AgentMemoryRoutes:
    def __init__(
        self,
        services: AgentServices,
        readers: OpenReaders,
        upstreams: Upstreams,
        requests: AgentRequests,
    ) -> None:
        """`readers`: opens those of one conversation. `upstreams`: where the caller's own model
        is asked."""
        self._book, self._curation = services.book, services.curation
        self._extraction, self._requests = services.extraction, requests
        self._readers, self._upstreams = readers, upstreams

    async def create(self, request: Request) -> Response:
        """Save the posted memories, or those extracted from a posted conversation."""
        posted = await self._requests.posted(request, NewAgentMemories)
        if posted.memories is not None:
            return await self.stored(request, posted)
        messages, by = posted.messages(self._requests.max_messages), self._requests.context()
        tenant = await self._requests.tenant(request)
        scope = posted.scope(tenant.id)
        caller = None
        if posted.model:
            model_name = strip_suffix(posted.model).model
            caller = CallerModel(request, tenant, self._upstreams, model_name)
        readers, model = self._readers(caller)
        with self._requests.costly(scope.tenant):
            report = await self._extraction.extract(
                scope,
                messages,
                readers,
                thread=posted.thread_id,
                schemas=posted.schemas,
                expires=posted.ends(by.now),
                force=posted.force,
            )
        results = (*report.created, *report.updated)
        usage = model.usage if model else Usage()
        return _stored(Stored(results, report=report, usage=usage))

    async def stored(
        self, request: Request, posted: NewAgentMemories | NewAgentMemoryBatch
    ) -> Response:
        stored = await self._book.create(
            posted.scope((await self._requests.tenant(request)).id),
            posted.drafts(self._requests.context()),
            thread=posted.thread_id,
        )
        return _stored(Stored(*stored))

    async def page(self, request: Request) -> Response:
        """Return a page of agents' memories. None has a group, since groups belong to users."""
        tenant = await self._requests.tenant(request)
        scopes = queried_agents(request.query_params, tenant.id) or AgentScopes(tenant.id, None)
        query = queried(AgentListing, request.query_params)
        page = await self._book.page(scopes, query.wanted(), cursor=query.cursor, limit=query.limit)
        return answer(agent_page(page, self._book.clock.now()))

    async def locate(
        self, scopes: AgentScopes, id_: str, also: Sequence[Scope] = ()
    ) -> LocatedMemory | None:
        located = await self._book.locate(scopes, [id_], also)
        return located[0] if located else None

    async def memory(self, request: Request, located: LocatedMemory) -> Response:
        """Show, change or delete a memory, according to the method."""
        if request.method == "DELETE":
            return await self._delete(request, located)
        if request.method == "PATCH":
            located = await self._changed(request, located)
        memory = agent_memory(located, self._book.clock.now(), alone=True)
        return answer(AgentMemoryAnswer(memory=memory), of=located.memory)

    async def _changed(self, request: Request, located: LocatedMemory) -> LocatedMemory:
        version = if_version(request.headers)
        edit = (await self._requests.posted(request, AgentMemoryEdit)).edit(
            self._requests.context()
        )
        with naming(MEMORY):
            memory = await self._book.edit(
                located.scope, located.memory.id, edit, if_version=version
            )
        return LocatedMemory(located.scope, memory)

    async def _delete(self, request: Request, located: LocatedMemory) -> Response:
        how = await self._requests.delete_options(request, queried=AGENT_FIELDS)
        if how.dry_run:
            return counted(await self._curation.deletable([located]))
        deleted = await self._book.delete([located], purge=how.purge)
        if not deleted:
            raise unknown(MEMORY)
        return answer(MemoryDeleted(deleted_from_groups=0, deleted=deleted))


def _stored(stored: Stored) -> Response:
    """Answer 201 if a memory was created, else 200."""
    made = stored_memories(stored)
    return answer(made, 201 if made.created else 200)


class AgentBatchRoutes:
    def __init__(
        self, services: AgentServices, memories: AgentMemoryRoutes, requests: AgentRequests
    ) -> None:
        self._book, self._curation = services.book, services.curation
        self._memories, self._requests = memories, requests

    @route("POST /memories/batch/create")
    async def create(self, request: Request) -> Response:
        posted = await self._requests.posted(request, NewAgentMemoryBatch)
        return await self._memories.stored(request, posted)

    @route("POST /memories/batch/delete", Deleting)
    async def delete(self, request: Request) -> Response:
        how = await self._requests.delete_options(request, posted=("ids", "filters"))
        posted = await self._requests.posted(request, BatchDeletion)
        scopes = posted.scopes((await self._requests.tenant(request)).id)
        if scopes is None:
            rows = await self._located(request, posted.ids or ())
            if how.dry_run:
                return counted(await self._curation.deletable(rows))
            deleted = await self._book.delete(rows, purge=how.purge)
        elif how.dry_run:
            deleted = await self._curation.count(scopes, posted.wanted())
        else:
            deleted = await self._book.delete_matching(scopes, posted.wanted(), purge=how.purge)
        return counted(deleted) if how.dry_run else answer(Deleted(deleted=deleted))

    @route("POST /memories/batch/update")
    async def update(self, request: Request) -> Response:
        posted = await self._requests.posted(request, BatchUpdate)
        rows = await self._located(request, posted.ids)
        updated = await self._book.edit_all(
            rows, posted.update.edit(self._requests.context(), "update.")
        )
        return answer(BatchUpdated(updated=updated))

    async def _located(self, request: Request, ids: Sequence[str]) -> list[LocatedMemory]:
        tenant = await self._requests.tenant(request)
        everywhere = AgentScopes(tenant.id, None, None)
        return await self._book.locate(everywhere, known_ids(ids), [user_scope(request, tenant)])
