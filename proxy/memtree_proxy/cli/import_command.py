"""`memtree import`: list conversations of other programs, write them as messages, or index them."""

from __future__ import annotations

import argparse
import getpass
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from rich.console import Console
from rich.progress import track

from memtree.config import Settings
from memtree.context.answer_state import is_degraded
from memtree.context.turn_request import UNHURRIED, CompressRequest
from memtree.errors import BadRequest, Unauthorized, Unavailable
from memtree.history import chat_history
from memtree.history.message import Message, Volatile, read_messages
from memtree.jobs.runtime import open_runtime
from memtree.ports.context_store import Credentials
from memtree.tenant_names import LOCAL
from memtree_proxy.cli.foreign_text import plain, plain_json
from memtree_proxy.cli.terminal_drawing import bar, open_console
from memtree_proxy.http import auth
from memtree_proxy.imports import recognise
from memtree_proxy.imports.conversation import Conversation, raw_message
from memtree_proxy.imports.places import places
from memtree_proxy.imports.recognise import NoConversation, SourceFile

SHOWN = 5  # candidates named when a title matches several


@dataclass(frozen=True, slots=True)
class ImportEntry:
    """A conversation in the list, without its messages, since all messages may take gigabytes."""

    place: SourceFile
    conversation: Conversation
    count: int
    tokens: int


async def run(options: argparse.Namespace, settings: Settings) -> int:
    """Run the command. Returns exit code 1 if a requested conversation could not be read."""
    _check(options)
    console = open_console(stderr=True)
    troubles: list[str] = []
    entries = _survey(options, console, troubles)
    for reason in troubles:
        console.print(plain(f"left out: {reason}"), style="dim")
    if not entries:
        raise BadRequest(f"{options.path}: nothing to import; there are no messages in it")
    chosen = _chosen(entries, options)
    shown = [entry for _, entry in chosen] or entries
    notes = (f"{entry.place.name}: {note}" for entry in shown for note in entry.conversation.notes)
    for each in dict.fromkeys(notes):
        console.print(plain(each), style="dim", soft_wrap=True)
    if not chosen:
        _list(entries)
        return 0
    if options.output or not options.warm:
        _write(chosen, options, console)
    if options.warm:
        await _warm(chosen, options, settings, console)
    return 1 if options.all and troubles else 0


def _check(options: argparse.Namespace) -> None:
    if options.all and not (options.output or options.warm):
        raise BadRequest("--all needs a folder to write to (-o FOLDER), or --warm")
    if not options.warm and (options.key or options.key_file):
        raise BadRequest("--key and --key-file belong to --warm")
    if options.warm and options.names:
        raise BadRequest("--names changes what is said, so that --warm would find no memory by it")
    if options.path == "-" and options.key == "-":
        raise BadRequest("--key - reads standard input, which is the file here: use --key-file")


def _survey(
    options: argparse.Namespace, console: Console, troubles: list[str]
) -> list[ImportEntry]:
    """Return all conversations, newest first. A broken file among others is added to `troubles` and
    does not end the command."""
    sources = places(options.path, troubles.append)
    entries: list[ImportEntry] = []
    shown = track(sources, "reading", console=console, transient=True, disable=len(sources) == 1)
    for place in shown:
        try:
            read = recognise.conversations(place, options.format, options.whole, options.names)
            entries += [_entry(place, conversation) for conversation in read]
        except BadRequest as error:
            if len(sources) == 1:
                raise
            if options.format or not isinstance(error, NoConversation):
                troubles.append(error.message)
    return sorted(entries, key=lambda entry: entry.conversation.date, reverse=True)


def _entry(place: SourceFile, conversation: Conversation) -> ImportEntry:
    messages = _messages(conversation)
    read = chat_history.read("", messages, Volatile())
    size = read.tokens + read.system_tokens
    return ImportEntry(place, replace(conversation, messages=()), len(messages), size)


def _messages(conversation: Conversation) -> tuple[Message, ...]:
    """Return the messages as the routes would read them. Raises `BadRequest` if they would refuse
    them."""
    return read_messages(
        [raw_message(fields) for fields in conversation.messages], f"{conversation.id}: messages"
    )


def _chosen(
    entries: list[ImportEntry], options: argparse.Namespace
) -> list[tuple[int, ImportEntry]]:
    """Return the chosen conversations with their numbers, or none if the list is to be shown."""
    numbered = list(enumerate(entries, 1))
    if options.all:
        return numbered
    if options.pick:
        return [_picked(numbered, options.pick)]
    if len(entries) == 1:
        return numbered
    if options.output or options.warm:
        raise BadRequest(
            f"{options.path}: {len(entries)} conversations; choose one with --pick, or --all"
        )
    return []


def _picked(numbered: list[tuple[int, ImportEntry]], pick: str) -> tuple[int, ImportEntry]:
    """Find a conversation by its number, else by its id, else by a part of its title."""
    words = pick.casefold()
    for fits in (
        [choice for choice in numbered if str(choice[0]) == pick],
        [choice for choice in numbered if choice[1].conversation.id == pick],
        [choice for choice in numbered if words in choice[1].conversation.title.casefold()],
    ):
        if len(fits) == 1:
            return fits[0]
        if fits:
            names = "; ".join(f"{at} {entry.conversation.title}" for at, entry in fits[:SHOWN])
            raise BadRequest(f"--pick {pick}: matches {len(fits)} conversations: {names}")
    raise BadRequest(f"--pick {pick}: there is no such number, id or title")


def _list(entries: list[ImportEntry]) -> None:
    """Print one line for each conversation, with tabs between the fields for other programs to
    parse."""
    for number, entry in enumerate(entries, 1):
        listed = entry.conversation
        date = listed.date.replace("T", " ").removesuffix("Z") or "-"
        fields = (number, date, listed.format, f"{entry.count} messages", f"{entry.tokens} tokens",
                  listed.title, listed.id)  # fmt: skip
        line = "\t".join(" ".join(str(field).split()) for field in fields)
        sys.stdout.write("".join(c for c in line if c.isprintable() or c == "\t") + "\n")


def _read(
    chosen: Sequence[tuple[int, ImportEntry]], options: argparse.Namespace
) -> Iterator[tuple[int, Conversation, tuple[Message, ...]]]:
    """Yield the chosen conversations with their messages, one at a time."""
    for _, group in groupby(chosen, key=lambda choice: choice[1].place.name):
        wanted = {entry.conversation.id: (number, entry.place) for number, entry in group}
        _, place = next(iter(wanted.values()))
        read = recognise.conversations(place, options.format, options.whole, options.names)
        for conversation in read:
            if conversation.id in wanted:
                number, _ = wanted.pop(conversation.id)
                yield number, conversation, _messages(conversation)
        if wanted:
            raise BadRequest(f"{place.name}: has changed while it was read")


def _write(
    chosen: Sequence[tuple[int, ImportEntry]], options: argparse.Namespace, console: Console
) -> None:
    targets = {number: _target(options, number, entry.conversation) for number, entry in chosen}
    # before any file is written
    there = [each for each in targets.values() if each and not options.force and each.is_file()]
    if there:
        more = f" and {len(there) - 1:,} more files are" if len(there) > 1 else " is"
        raise BadRequest(
            f"{there[0]}{more} there already; --force replaces what is there", param="output"
        )
    if options.all and options.output:
        folder = Path(options.output)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadRequest(f"{folder}: {error.strerror}", param=str(folder)) from error
    for number, conversation, messages in _read(chosen, options):
        target = targets[number]
        if target:
            _save(target, messages)
        else:
            sys.stdout.writelines(plain_json(line.decode()) for line in _lines(messages))
        left = ""
        if conversation.dropped:
            left = (
                f"; {conversation.dropped} more that {conversation.format} had condensed or cut "
                "away are left out (--whole keeps them)"
            )
        where = str(target or "standard output")
        text = f"{conversation.title}: {len(messages)} messages to {where}{left}"
        console.print(plain(text), soft_wrap=True)


def _target(options: argparse.Namespace, number: int, conversation: Conversation) -> Path | None:
    """Return the file to write, None for standard output."""
    if not options.output:
        return None
    if not options.all:
        return Path(options.output)
    slug = _slug(conversation.title) or _slug(conversation.id)
    return Path(options.output) / f"{number:04d}-{slug}.json"


def _lines(messages: Sequence[Message]) -> Iterator[bytes]:
    """Yield a JSON array with one message on each line."""
    for at, message in enumerate(messages):
        yield (b"[\n" if at == 0 else b",\n") + message.raw
    yield b"\n]\n"


def _save(path: Path, messages: Sequence[Message]) -> None:
    """Write a file that appears under its name only when it is complete."""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:50]}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.writelines(_lines(messages))
            os.replace(name, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(name)
            raise
    except OSError as error:
        raise BadRequest(f"{path}: {error.strerror}", param=str(path)) from error


def _slug(text: str) -> str:
    return "-".join(re.findall(r"\w+", text.lower()))[:50].strip("-")


# -- the memory of a session before its first request ----------------------------------------------


async def _warm(
    chosen: Sequence[tuple[int, ImportEntry]],
    options: argparse.Namespace,
    settings: Settings,
    console: Console,
) -> None:
    """Index conversations for the tenant of the client's credential. Raises `BadRequest`,
    `Unauthorized`, or `Unavailable`."""
    key = _key(options)
    if settings.store.startswith("memory:"):
        raise BadRequest("--warm: a store in memory ends with this command; name one with --store")
    async with open_runtime(settings, drain=0) as runtime:
        tenant = await _tenant_of(runtime.store, key)
        for _, conversation, messages in _read(chosen, options):
            ask = CompressRequest(
                tenant,
                messages[conversation.sealed :],
                expiration_days=settings.expiration_days,
                patience=UNHURRIED,
            )
            answer = await runtime.memory.index(ask)
            if is_degraded(answer.state):
                raise Unavailable(f"--warm: nothing was kept ({answer.state})")
            await bar(runtime.memory, tenant, console)
            sizes = f"{answer.raw_tokens:,} tokens, {answer.indexed_tokens:,} indexed"
            console.print(plain(f"{conversation.title}: {sizes}"), soft_wrap=True)
    if key is None:
        text = "Without --key this memory is for programs of this machine that send no key."
        console.print(text, style="dim")


async def _tenant_of(keys: Credentials, credential: str | None) -> str:
    """Return the tenant that a server with this store would give the credential (see `auth.Gate`).

    Raises `Unauthorized` if the server would refuse it.
    """
    if await keys.has_keys():
        known = await keys.tenant_of(credential) if credential else None
        if known is None:
            why = "this key is not one of them" if credential else "give the client's with --key"
            raise Unauthorized(f"the store has access keys: {why}")
        return known
    return await auth.bare_tenant(keys, credential) if credential else LOCAL


def _key(options: argparse.Namespace) -> str | None:
    """Return the client's credential: from an option, a prompt or a file."""
    given = options.key
    if options.key_file:
        try:
            given = Path(options.key_file).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise BadRequest(f"--key-file {options.key_file}: cannot be read: {error}") from error
    elif given == "-":
        asks = sys.stdin.isatty()
        given = getpass.getpass("API key of the client: ") if asks else sys.stdin.readline()
    if given is None:
        return None
    if not given.strip():
        raise BadRequest("--key: is empty")
    return str(given).strip()
