"""Keep the schemas of a tenant, check what callers give for one, and hold data against them."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from memtree.agents.memory_schema import (
    MAX_SCHEMAS,
    MemorySchema,
    SchemaStore,
    checked_kind,
    nearest_kind,
    same_content,
    schema_text,
    unique_key,
)
from memtree.agents.schema_limits import checked_schema
from memtree.agents.schema_validation import CompiledSchema, compiled, load, violation_of
from memtree.clock import Clock
from memtree.errors import (
    BadRequest,
    Conflict,
    NotFound,
    SchemaViolation,
    SecretRejected,
    VersionConflict,
)
from memtree.memories.checked_fields import refuse_secrets

MAX_DESCRIPTION_CHARS = 2_000


def checked_description(text: str) -> str:
    """Raises `BadRequest` and `SecretRejected` naming the field."""
    if len(text) > MAX_DESCRIPTION_CHARS:
        raise BadRequest(
            f"description has {len(text)} characters; at most {MAX_DESCRIPTION_CHARS} are kept",
            param="description",
        )
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BadRequest(
            "description holds half a character (a lone surrogate)", param="description"
        ) from None
    if "\0" in text:
        raise BadRequest("description holds a NUL character", param="description")
    try:
        refuse_secrets(text)
    except SecretRejected as error:
        raise SecretRejected(f"description: {error.message}", param="description") from None
    return text


MAX_ENTRIES = 500
MAX_BYTES = 4 << 20  # of their texts


class CompiledSchemas:
    """Keeps the compiled schemas of the newest tenants that used them, by their text. Safe for
    concurrent calls of one event loop.

    A schema that was changed has another text, so another process's change holds from the next
    look at the store on. Bounded by the bytes of the texts: a compiled schema takes some ten
    times as much.
    """

    def __init__(self, entries: int = MAX_ENTRIES, size: int = MAX_BYTES) -> None:
        self._most, self._size = entries, size
        self._rows: OrderedDict[tuple[str, str], CompiledSchema] = OrderedDict()
        self._held = 0

    def __len__(self) -> int:
        return len(self._rows)

    async def of(self, tenant: str, schema: MemorySchema) -> CompiledSchema:
        """Compiled in a thread: the first one loads the library."""
        key = (tenant, schema.document)
        compiled_schema = self._rows.get(key)
        if compiled_schema is None:
            compiled_schema = await asyncio.to_thread(_compiled, schema.document)
            if key not in self._rows:
                self._rows[key] = compiled_schema
                self._held += len(schema.document)
            while len(self._rows) > self._most or (self._held > self._size and len(self._rows) > 1):
                (_, text), _ = self._rows.popitem(last=False)
                self._held -= len(text)
        if key in self._rows:
            self._rows.move_to_end(key)
        return compiled_schema


def _compiled(text: str, unique_on: Sequence[str] = ()) -> CompiledSchema:
    return compiled(checked_schema(text, unique_on))


MAX_ON_LOOP = 20_000  # sub-schemas times values of a request: beyond it, a thread
_TRIES = 20  # of a change, while others change the same schema

Document = str | Mapping[str, Any]


class PutSchema(NamedTuple):
    schema: MemorySchema
    created: bool


@dataclass(frozen=True, slots=True)
class SchemaChange:
    """None: stays as it is."""

    document: Document | None = None
    unique_on: Sequence[str] | None = None
    description: str | None = None


class SchemaBook:
    """Bound to its ports; safe for concurrent calls. `strict`: no kind without a schema, also
    where the tenant has none."""

    def __init__(
        self, store: SchemaStore, clock: Clock, *, most: int = MAX_SCHEMAS, strict: bool = False
    ) -> None:
        self._store, self._clock, self._most, self._strict = store, clock, most, strict
        self._compiled = CompiledSchemas()

    # -- schemas -----------------------------------------------------------------------------

    async def list(self, tenant: str) -> list[MemorySchema]:
        """By kind."""
        return await self._store.schemas(tenant)

    async def get(self, tenant: str, kind: str) -> MemorySchema:
        """Raises `NotFound`, naming the nearest one."""
        schemas = await self._store.schemas(tenant)
        for schema in schemas:
            if schema.kind == kind:
                return schema
        meant = _meant(kind, [schema.kind for schema in schemas])
        raise NotFound(f"There is no schema of this kind.{meant}", param="kind")

    async def put(
        self,
        tenant: str,
        kind: str,
        document: Document,
        unique_on: Sequence[str] = (),
        description: str = "",
    ) -> PutSchema:
        """Keep it, in the place of one that the kind has. Raises `SchemaInvalid`, `BadRequest`
        naming the field, and `Conflict` beyond the limit."""
        schema = await self._made(kind, document, unique_on, description)
        created = await self._keep(tenant, schema)
        return PutSchema(schema if created else await self.get(tenant, kind), created)

    async def create(
        self,
        tenant: str,
        kind: str,
        document: Document,
        unique_on: Sequence[str] = (),
        description: str = "",
    ) -> PutSchema:
        """`put` where the kind has none. The same again changes nothing; `Conflict` where it has
        another."""
        schema = await self._made(kind, document, unique_on, description)
        if await self._keep(tenant, schema, once=True):
            return PutSchema(schema, created=True)
        there = await self.get(tenant, kind)
        if not same_content(there, schema):
            raise Conflict(
                "There is another schema of this name: PATCH /schemas/{name} changes it, and "
                "PUT /schemas/{kind} replaces it.",
                param="name",
            )
        return PutSchema(there, created=False)

    async def change(self, tenant: str, kind: str, change: SchemaChange) -> MemorySchema:
        """Raises `NotFound`, also where it is deleted meanwhile, and as `put` does. Of two changes
        at once each leaves what the other named; `VersionConflict` where too many come at once."""
        for _ in range(_TRIES - 1):
            with suppress(VersionConflict):
                return await self._change(tenant, kind, change)
        return await self._change(tenant, kind, change)

    async def _change(self, tenant: str, kind: str, change: SchemaChange) -> MemorySchema:
        there = await self.get(tenant, kind)
        schema = await self._made(
            kind,
            there.document if change.document is None else change.document,
            there.unique_on if change.unique_on is None else change.unique_on,
            there.description if change.description is None else change.description,
        )
        await self._keep(tenant, schema, expected=there)
        return replace(schema, created=there.created)

    async def delete(self, tenant: str, kind: str) -> bool:
        """Delete the schema; return True if there was one. Its memories stay as they are."""
        return await self._store.delete_schema(tenant, kind)

    async def _made(
        self, kind: str, document: Document, unique_on: Sequence[str], description: str
    ) -> MemorySchema:
        now = self._clock.now()
        schema = MemorySchema(
            checked_kind(kind, "kind"),
            schema_text(document),
            tuple(dict.fromkeys(unique_on)),  # `check_unique`: they are properties
            checked_description(description),
            now,
            now,
        )
        await asyncio.to_thread(_compiled, schema.document, schema.unique_on)
        return schema

    async def _keep(
        self,
        tenant: str,
        schema: MemorySchema,
        *,
        once: bool = False,
        expected: MemorySchema | None = None,
    ) -> bool:
        """Keep the schema; return True if it is new."""
        key = partial(unique_key, schema)
        return await self._store.put_schema(
            tenant, schema, key, most=self._most, once=once, expected=expected
        )

    # -- data --------------------------------------------------------------------------------

    async def check(
        self, tenant: str, items: Sequence[tuple[str, Mapping[str, Any], str]]
    ) -> Sequence[MemorySchema | None]:
        """The schema of each item (kind, data, name), None where it is free form. All keep to
        theirs, or `SchemaViolation` names the first that does not and the place in it, as
        `memories[2].data.age: must be integer`; `BadRequest` where a kind is no name of one."""
        checked = await self.violations(tenant, items)
        broken = next((error for _, error in checked if error is not None), None)
        if broken is not None:
            raise broken
        return [schema for schema, _ in checked]

    async def violations(
        self, tenant: str, items: Sequence[tuple[str, Mapping[str, Any], str]]
    ) -> Sequence[tuple[MemorySchema | None, SchemaViolation | None]]:
        """Return for each item its schema, and what is wrong with it."""
        schemas = {schema.kind: schema for schema in await self._store.schemas(tenant)}
        free = not schemas and not self._strict
        rows = [_Row.of(kind, data, name, schemas) for kind, data, name in items]
        against = {
            kind: await self._compiled.of(tenant, schemas[kind])
            for kind in dict.fromkeys(row.kind for row in rows if row.kind in schemas)
        }
        known = [row for row in rows if row.kind in against]
        much = sum(load(against[row.kind], row.data) for row in known) > MAX_ON_LOOP

        def all_violations() -> list[tuple[MemorySchema | None, SchemaViolation | None]]:
            return [
                (schemas[row.kind], row.held_against(against[row.kind]))
                if row.kind in against
                else (None, None if free else row.unknown(list(schemas)))
                for row in rows
            ]

        return await asyncio.to_thread(all_violations) if much else all_violations()


class _Row(NamedTuple):
    """An item, and what errors call its kind."""

    kind: str
    data: Mapping[str, Any]
    name: str
    place: str

    @classmethod
    def of(cls, kind: str, data: Mapping[str, Any], name: str, known: Collection[str]) -> _Row:
        place = f"{name}.kind" if name else "kind"
        return cls(kind if kind in known else checked_kind(kind, place), data, name, place)

    def held_against(self, schema: CompiledSchema) -> SchemaViolation | None:
        broken = violation_of(schema, self.data)
        if broken is None:
            return None
        called = f"{self.name}.data" if self.name else "data"
        return SchemaViolation(broken.message(called), param=broken.place(called))

    def unknown(self, known: Sequence[str]) -> SchemaViolation:
        return SchemaViolation(
            f"{self.place}: there is no schema of this kind.{_meant(self.kind, known)}",
            param=self.place,
        )


def _meant(kind: str, known: Sequence[str]) -> str:
    near = nearest_kind(kind, known)
    return "" if near is None else f" The nearest is {near}."
