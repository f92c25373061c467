"""Defines the requests and answers of schemas, grants and wallets.

`PUT /schemas/{kind}` takes `json_schema`, `POST /schemas` takes `name` and `schema`; each also
accepts the other's fields.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from memtree.agents.agent_memory import AgentScopes
from memtree.agents.grant import Chain, SignedGrant
from memtree.agents.grant_book import GrantReport
from memtree.agents.grant_json import MAX_CODE_CHARS, read_grant, read_share_code
from memtree.agents.memory_schema import MemorySchema
from memtree.agents.schema_book import Document, SchemaChange
from memtree.agents.wallets import chain_of, shown_address
from memtree.errors import BadRequest
from memtree.memories.checked_fields import milliseconds
from memtree.memories.checked_fields import shown as shown_time
from memtree_proxy.http.decoding import FieldError, Posted
from memtree_proxy.wire.values import Answer, Kind, Success, copied

MAX_NAMES = 100
_ABSENT = msgspec.Raw(b"null")
_Names = Annotated[list[str], Meta(max_length=MAX_NAMES)]

# -- posted ----------------------------------------------------------------------------------


class SchemaFields(Posted, frozen=True, kw_only=True):
    """Fields of a schema, of which two have two names each. Documents stay as they are written."""

    json_schema: msgspec.Raw = msgspec.field(default_factory=lambda: _ABSENT)
    schema: msgspec.Raw = msgspec.field(default_factory=lambda: _ABSENT)
    unique_on: _Names | None = msgspec.field(default=None, name="uniqueOn")
    unique_on_too: _Names | None = msgspec.field(default=None, name="unique_on")
    description: str | None = None

    def check(self) -> None:
        given = _document(self.json_schema, "json_schema"), _document(self.schema, "schema")
        if None not in given:
            raise FieldError("schema", "and json_schema are one field: send one")
        if self.unique_on is not None and self.unique_on_too is not None:
            raise FieldError("unique_on", "and uniqueOn are one field: send one")

    def change(self) -> SchemaChange:
        document = _document(self.json_schema, "json_schema")
        if document is None:
            document = _document(self.schema, "schema")
        unique = self.unique_on_too if self.unique_on is None else self.unique_on
        return SchemaChange(document, None if unique is None else tuple(unique), self.description)


class NewSchema(SchemaFields, frozen=True, kw_only=True):
    def parts(self, required: str = "json_schema") -> tuple[Document, Sequence[str], str]:
        """Return document, unique fields and description. `required`: the field that an error names
        if there is no document."""
        change = self.change()
        if change.document is None:
            raise BadRequest(f"{required} is required", param=required)
        return change.document, change.unique_on or (), change.description or ""


class NamedSchema(NewSchema, frozen=True, kw_only=True):
    name: Kind


class SchemaEdit(SchemaFields, frozen=True, kw_only=True):
    def check(self) -> None:
        super().check()
        if self.change() == SchemaChange():
            raise FieldError("schema", "description or uniqueOn is required")


def _document(raw: msgspec.Raw, name: str) -> str | None:
    """Return the JSON text of a schema, given as an object or inside a string. Raises
    `FieldError`."""
    text = bytes(raw)
    if text == b"null":
        return None
    if text[:1] == b"{":
        return text.decode()
    if text[:1] != b'"':
        raise FieldError(name, "must be an object, or its JSON as a string")
    return msgspec.json.decode(text, type=str)


# -- answered --------------------------------------------------------------------------------


class ShownSchema(Answer, frozen=True, kw_only=True):
    """Schema of the memories of a kind."""

    name: str
    kind: str
    description: str
    unique_on: Sequence[str] = msgspec.field(name="uniqueOn")
    schema: str
    json_schema: msgspec.Raw
    created_at: int = msgspec.field(name="createdAt")
    updated_at: int = msgspec.field(name="updatedAt")

    @classmethod
    def of(cls, schema: MemorySchema) -> ShownSchema:
        return copied(
            cls,
            schema,
            name=schema.kind,
            schema=schema.document,
            json_schema=msgspec.Raw(schema.document.encode()),
            created_at=milliseconds(schema.created),
            updated_at=milliseconds(schema.updated),
        )


class MemorySchemas(Success, frozen=True, kw_only=True):
    schemas: Sequence[ShownSchema]


class KeptSchema(Success, frozen=True, kw_only=True):
    schema: ShownSchema


class ChangedSchema(Success, frozen=True, kw_only=True):
    updated: Literal[True] = True
    schema: ShownSchema


GRANT, SHARE_CODE = "grant", "shareCode"
ChainName = Literal["evm", "sol"]


class PostedGrant(Posted, frozen=True):
    """Body with a grant, or with a share code that holds a grant."""

    grant: dict[str, Any] | None = None
    share_code: Annotated[str, Meta(max_length=MAX_CODE_CHARS)] | None = msgspec.field(
        default=None, name=SHARE_CODE
    )

    def check(self) -> None:
        if (self.grant is None) == (self.share_code is None):
            raise FieldError(GRANT, f"or {SHARE_CODE} is required, and not both")

    def signed(self) -> SignedGrant:
        """Read the grant. Raises `BadRequest` naming the field."""
        name = GRANT if self.share_code is None else SHARE_CODE
        try:
            code = self.share_code
            return read_grant(self.grant) if code is None else read_share_code(code)
        except BadRequest as error:
            if error.param in (GRANT, SHARE_CODE):
                raise
            raise BadRequest(f"{name}.{error.message}", param=f"{name}.{error.param}") from None


class ShownGrant(Success, frozen=True, kw_only=True, rename="camel"):
    """The terms of a grant, and what it opens for the tenant that asks."""

    id: str
    chain: ChainName
    grantor: str
    grantee: str
    agent_id: str | None
    subject_id: str | None
    expires_at: int
    opens: bool
    reason: str | None

    @classmethod
    def of(cls, report: GrantReport) -> ShownGrant:
        payload, opens = report.grant.payload, report.opens
        return cls(
            id=report.digest.hex(),
            chain=report.grant.chain.value,
            grantor=shown_address(payload.grantor),
            grantee=shown_address(payload.grantee),
            agent_id=payload.agent,
            subject_id=payload.subject,
            expires_at=payload.expires * 1000,
            opens=isinstance(opens, AgentScopes),
            reason=None if isinstance(opens, AgentScopes) else opens,
        )


class ShownWallet(Answer, frozen=True, kw_only=True):
    address: str
    chain: ChainName
    since: str


class Wallets(Success, frozen=True, kw_only=True):
    wallets: Sequence[ShownWallet]

    @classmethod
    def of(cls, rows: Sequence[tuple[str, float]]) -> Wallets:
        return cls(
            wallets=[
                ShownWallet(
                    address=shown_address(address),
                    chain=(chain_of(address) or Chain.EVM).value,
                    since=shown_time(since),
                )
                for address, since in rows
            ]
        )


class RevokedGrant(Success, frozen=True, kw_only=True):
    """`already`: it opened nothing before."""

    already: bool
