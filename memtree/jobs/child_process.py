"""A child process for stage 1, both ends of it: `Child` in the server, `main` in the child.

Both directions use frames: eight bytes for the size, then a pickle, with nodes in their stored
form, which takes a tenth of the time. The answer to a tail is a frame for each piece of the result,
as soon as it is sealed, and then an empty one. For a long tail the child forks, and every fork
grows a part of it: they share code, patterns and vocabulary, which take 0.6 s and 80 MB to load.
Forking is safe, since the child has no other thread, or at most one that sleeps
(`parent_death.py`); on systems without fork the child does all the work itself.

The child ends with the server and the forks end with the child, even in the middle of work.
`multiprocessing` is not used: it would import the server's main module again in the child, and keep
another process to track semaphores.
"""

from __future__ import annotations

import gc
import os
import pickle
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import IO, Any, TypeAlias

import msgspec

from memtree.jobs import parent_death
from memtree.text import rule_sentences, tokens
from memtree.tree import extraction, growth
from memtree.tree.extraction import Unsummarised
from memtree.tree.node import Node, Summary

PIECE = 64  # nodes decoded before the GIL is released: half a millisecond
HEAD = 8
# Bytes of messages for each process and round: a million tokens take one round of two processes.
# Each further round costs 3 %, for forks, repeated reading, and waiting at its end; and a killed
# run loses what a fork has not delivered yet, here up to a second of work.
ROUND = 2_500_000
_GROUPS = hasattr(os, "killpg")

START = (
    "import sys; sys.path[:] = {path!r}; "
    "from memtree.jobs.parent_death import end_with; end_with({parent}); "
    "from memtree.jobs.child_process import main; main()"
)
_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(list[Node])
_summaries_decoder = msgspec.msgpack.Decoder(list[Summary])

Sealed: TypeAlias = Callable[[growth.GrownTree], None]  # receives the next piece of a result


class Child:
    """One child process, used by one thread at a time. Starting returns immediately; the child is
    ready after 0.6 s, spent mostly on the vocabulary. It ends with the thread that starts it."""

    def __init__(self) -> None:
        """Raises `OSError` if no process can be started."""
        self._process = subprocess.Popen(
            [sys.executable, "-c", START.format(path=sys.path, parent=os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            process_group=0 if _GROUPS else None,
        )

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        return self._process.pid

    def grow(self, tail: growth.Tail, parts: int, sealed: Sealed) -> None:
        """Grow the tail in up to `parts` processes. Blocks. Raises `OSError` or `EOFError` if the
        child ended before its answer did; `sealed` has received all pieces until then."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        send(self._process.stdin, (tail, parts))
        while (piece := receive_grown(self._process.stdout)) is not None:
            sealed(piece)

    def summaries(self, nodes: Unsummarised) -> list[Summary]:
        """Let the child make the summaries of nodes. Blocks, and raises as `grow` does."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        send(self._process.stdin, (nodes, 0))
        return _summaries_decoder.decode(receive(self._process.stdout))

    def kill(self) -> None:
        """Kill the child and its forks: a thread waiting for its answer gets `EOFError`. Does not
        block."""
        if not _GROUPS:
            self._process.kill()
        elif self.alive:  # otherwise its process id may already belong to another process
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)

    def close(self) -> None:
        """End the child and release its resources. Blocks briefly."""
        with self._process:  # closes both pipes, and waits for it
            self.kill()


def main() -> None:
    """Run the child's side: answer what it is sent until the input ends."""
    # Ctrl-C is for the parent; a process group of its own shields the child where groups exist.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warm_up()
    gc.freeze()
    gc.set_threshold(100_000)  # nearly nothing here has reference cycles
    try:
        while True:
            work, parts = receive(sys.stdin.buffer)
            if isinstance(work, Unsummarised):
                send(sys.stdout.buffer, _encoder.encode(extraction.summaries_of(work)))
            else:
                for piece in grow(work, parts):
                    send_grown(sys.stdout.buffer, piece)
                send(sys.stdout.buffer, None)
            del work
    except (EOFError, BrokenPipeError):  # the parent closed its end or died; or a fork did
        return


def warm_up() -> None:
    """Load and compile what every tail needs. Stops as soon as a tail waits: the rest is then
    loaded at first use."""
    tokens.count("warm up")
    extraction.warm_up()
    for _ in rule_sentences.warm_up():
        if _has_input():
            return


def _has_input() -> bool:
    """Return True if a tail waits to be read; False on systems that cannot tell (Windows)."""
    try:
        return bool(select.select([sys.stdin.buffer], [], [], 0)[0])
    except (OSError, ValueError):
        return False


def grow(tail: growth.Tail, parts: int) -> Iterator[growth.GrownTree]:
    """Run `growth.grow` in up to `parts` processes, and yield each piece as soon as it is sealed.
    Raises `EOFError` if one of the processes ended.

    Works in rounds: the results of forks are sealed once all that comes before them is.
    """
    parts = parts if hasattr(os, "fork") else 1
    while True:
        end = growth.reach(tail, ROUND * parts)
        pieces = []
        for piece in _round(tail if end == len(tail.messages) else growth.first(tail, end), parts):
            pieces.append(piece)
            yield piece
        if end == len(tail.messages):
            return
        tail = growth.rest(tail, growth.concat(pieces), end)


def _round(tail: growth.Tail, parts: int) -> Iterator[growth.GrownTree]:
    stretches = growth.split(tail, parts)
    forks = [_Fork.of(stretch.tail) for stretch in stretches[1:]]
    pieces = []
    for piece in growth.in_steps(stretches[0].tail):
        pieces.append(piece)
        yield piece
    whole, end = growth.concat(pieces), stretches[0].end
    for stretch, fork in zip(stretches[1:], forks, strict=True):
        added = growth.join_next(tail, whole, end, stretch, fork.result())
        if added is None:
            break
        yield added
        whole, end = growth.concat([whole, added]), stretch.end
    for fork in forks:
        fork.stop()
    if end < len(tail.messages):
        yield from growth.in_steps(growth.rest(tail, whole, end))


@dataclass(slots=True)
class _Fork:
    """A fork of this process that grows one tail."""

    pid: int
    answer: IO[bytes]
    ended: bool = False

    @classmethod
    def of(cls, tail: growth.Tail) -> _Fork:
        readable, writable = os.pipe()
        parent = os.getpid()
        pid = os.fork()
        if not pid:
            try:
                parent_death.end_with(parent)
                # these pipes would otherwise stay open when the child closes its own
                os.closerange(0, 2)
                with open(writable, "wb") as file:
                    send_grown(file, growth.grow(tail))
            finally:
                os._exit(0)  # in any case: buffered data belongs to the child
        os.close(writable)
        return cls(pid, open(readable, "rb"))

    def result(self) -> growth.GrownTree:
        """Return the result. Blocks. Raises `EOFError` if the fork ended without one."""
        try:
            with self.answer:
                grown = receive_grown(self.answer)
        finally:
            self.ended = True
            os.waitpid(self.pid, 0)
        assert grown is not None
        return grown

    def stop(self) -> None:
        """End the fork; its result is not wanted."""
        if not self.ended:
            os.kill(self.pid, signal.SIGKILL)
            self.answer.close()
            self.ended = True
            os.waitpid(self.pid, 0)


def send_grown(file: IO[bytes], grown: growth.GrownTree) -> None:
    pieces = [grown.nodes[at : at + PIECE] for at in range(0, len(grown.nodes), PIECE)]
    send(file, ([_encoder.encode(piece) for piece in pieces], replace(grown, nodes=())))


def receive_grown(file: IO[bytes]) -> growth.GrownTree | None:
    """Read the next piece; None after the last."""
    received = receive(file)
    if received is None:
        return None
    pieces, grown = received
    nodes = tuple(node for piece in pieces for node in _decoder.decode(piece))
    return replace(grown, nodes=nodes)  # type: ignore[no-any-return]


def send(file: IO[bytes], value: Any) -> None:
    data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    file.write(len(data).to_bytes(HEAD, "big"))
    file.write(data)
    file.flush()


def receive(file: IO[bytes]) -> Any:
    return pickle.loads(_exactly(file, int.from_bytes(_exactly(file, HEAD), "big")))


def _exactly(file: IO[bytes], size: int) -> bytes:
    data = file.read(size)
    if len(data) < size:
        raise EOFError("the other end is gone")
    return data
