"""A child process for stage 1, both ends of it: `Child` in the server, `main` in the child.

Both ways go frames: eight bytes for the size, then a pickle, of nodes only their stored form, which
takes a tenth of the time. For a long tail the child forks, and every fork grows a stretch of it:
they share code and vocabulary, which take 0.3 s and 70 MB. The child has no other thread, so
forking is safe in it; where the system cannot fork it does all the work itself.

Not `multiprocessing`: that would import the server's main module again in the child, keep one more
process to track semaphores, and need a thread so that the child ends with a killed parent. Here it
ends with its standard input.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import IO, Any

import msgspec

from memtree.text import tokens
from memtree.tree import growth
from memtree.tree.growth import GrownTree, Tail
from memtree.tree.node import Node
from memtree.tree.parallel_growth import concat, join, rest, split

PIECE = 64  # nodes decoded at a stretch: half a millisecond in which the GIL is held
HEAD = 8
_GROUPS = hasattr(os, "killpg")

_START = (
    "import sys; sys.path[:] = {path!r}; from indexer.growing.child_process import main; main()"
)
_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(list[Node])


class Child:
    """One child process; for one thread at a time. Starting returns at once, the child is ready
    after 0.3 s, most of them for the vocabulary."""

    def __init__(self) -> None:
        """Raises `OSError` where no process can be started."""
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START.format(path=sys.path)],
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

    def grow(self, tail: Tail, parts: int) -> GrownTree:
        """In up to `parts` processes. Blocks. Raises `OSError` or `EOFError` where the child ended
        before its answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        _send(self._process.stdin, (tail, parts))
        return _receive_grown(self._process.stdout)

    def kill(self) -> None:
        """End it and its forks: who waits for its answer gets `EOFError`. Does not block."""
        if not _GROUPS:
            self._process.kill()
        elif self.alive:  # else its number may be another's
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)

    def close(self) -> None:
        """End it and let nothing of it remain. Blocks for a moment."""
        with self._process:  # closes both ends of its pipes, and waits for it
            self.kill()


def main() -> None:
    """What the child runs: answer tails until there is no more input."""
    # Ctrl-C is the parent's; a group of its own keeps it away where there are groups.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    tokens.count("warm up")
    gc.freeze()
    gc.set_threshold(100_000)  # nearly nothing here has cycles
    try:
        while True:
            tail, parts = _receive(sys.stdin.buffer)
            _send_grown(sys.stdout.buffer, grow(tail, parts))
            del tail
    except (EOFError, BrokenPipeError):  # the parent closed its end, or is gone; or a fork is
        return


def grow(tail: Tail, parts: int) -> GrownTree:
    """`build.grow` in up to `parts` processes. Raises `EOFError` where one of them ended."""
    stretches = split(tail, parts if hasattr(os, "fork") else 1)
    forks = [_Fork.of(stretch.tail) for stretch in stretches[1:]]
    grown = [growth.grow(stretches[0].tail), *(fork.result() for fork in forks)]
    whole, end = join(tail, stretches, grown)
    return (
        whole if end == len(tail.messages) else concat(whole, growth.grow(rest(tail, whole, end)))
    )


@dataclass(frozen=True, slots=True)
class _Fork:
    """A copy of this process that grows one tail."""

    pid: int
    answer: IO[bytes]

    @classmethod
    def of(cls, tail: Tail) -> _Fork:
        readable, writable = os.pipe()
        pid = os.fork()
        if not pid:
            try:
                os.closerange(0, 2)  # else these pipes would not end with the child's own end
                with open(writable, "wb") as file:
                    _send_grown(file, growth.grow(tail))
            finally:
                os._exit(0)  # whatever happened: what stands in buffers is the child's
        os.close(writable)
        return cls(pid, open(readable, "rb"))

    def result(self) -> GrownTree:
        try:
            with self.answer:
                return _receive_grown(self.answer)
        finally:
            os.waitpid(self.pid, 0)


def _send_grown(file: IO[bytes], grown: GrownTree) -> None:
    pieces = [grown.nodes[at : at + PIECE] for at in range(0, len(grown.nodes), PIECE)]
    _send(file, ([_encoder.encode(piece) for piece in pieces], replace(grown, nodes=())))


def _receive_grown(file: IO[bytes]) -> GrownTree:
    pieces, grown = _receive(file)
    nodes = tuple(node for piece in pieces for node in _decoder.decode(piece))
    return replace(grown, nodes=nodes)  # type: ignore[no-any-return]


def _send(file: IO[bytes], value: Any) -> None:
    data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    file.write(len(data).to_bytes(HEAD, "big"))
    file.write(data)
    file.flush()


def _receive(file: IO[bytes]) -> Any:
    return pickle.loads(_exactly(file, int.from_bytes(_exactly(file, HEAD), "big")))


def _exactly(file: IO[bytes], size: int) -> bytes:
    data = file.read(size)
    if len(data) < size:
        raise EOFError("the other end is gone")
    return data
