"""A small made-up project that a scripted model reads, runs and writes, and the steps to do so.

`files` is the project; `work` is what the model says about it. Every client names its tools in
its own way: `Tools` is that way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from tests.made.scripted import Call, Say
from tests.programs.sessions import WORDS

SUMMARY = "SUMMARY.md"
TASK = (
    "Read every part of this project, count the words of each with a command, write what you "
    f"found to {SUMMARY} and check it. From now on always name the part that you speak of."
)
DONE = "All parts are read, and the summary is written and checked."


@dataclass(frozen=True, slots=True)
class Tools:
    """How one client wants its calls: each makes a call from a path, a command, a text."""

    read: Callable[[str], Call]
    run: Callable[[str], Call]
    write: Callable[[str, str], Call]


PLAIN = Tools(
    read=lambda path: Call("read_file", {"path": path}),
    run=lambda command: Call("run", {"command": command}),
    write=lambda path, text: Call("write_file", {"path": path, "text": text}),
)


def files(parts: int, characters: int, seed: int = 1) -> dict[str, str]:
    """Texts by path, each part about `characters` long and like no other."""
    random = Random(seed)
    made = {"README.md": "# Parts\n\nA made-up project: parts/ holds its parts.\n"}
    for number in range(parts):
        lines = [f"# part {number}"]
        while sum(map(len, lines)) < characters:
            words = " ".join(random.choices(WORDS, k=10))
            lines.append(f"limit_{random.randrange(10_000)} = {random.randrange(999)}  # {words}")
        made[part(number)] = "\n".join(lines) + "\n"
    return made


def part(number: int) -> str:
    return f"parts/part_{number:02}.txt"


def summary(numbers: Sequence[int]) -> str:
    return "# Summary\n\n" + "".join(f"- part {number} is read\n" for number in numbers)


def work(
    tools: Tools,
    numbers: Sequence[int],
    root: str = "",
    *,
    done: str = DONE,
    quiet: bool = False,
    anew: bool = False,
) -> list[Say]:
    """The steps: parts read in twos and threes, in parallel; commands; a summary written and
    checked; the last word.

    `root`: put before each path, with its slash. `quiet`: calls come without text. `anew`: the
    summary is there already, and read first: some clients write over nothing that was not read.
    """
    steps: list[Say] = []
    waiting = list(numbers)
    while waiting:
        now, waiting = waiting[: 2 + len(steps) % 2], waiting[2 + len(steps) % 2 :]
        reads = tuple(tools.read(root + part(number)) for number in now)
        if len(steps) % 3 == 1:
            reads = (*reads, tools.run(f"wc -w {root}{part(now[0])}"))
        said = f"Next I read part {', '.join(map(str, now))} — ünïcode ✓."
        steps.append(Say("" if quiet else said, reads, "It is the next one."))
    path = root + SUMMARY
    if anew:
        steps.append(Say("First the summary that is there.", (tools.read(path),)))
    steps.append(Say("" if quiet else "Now the summary.", (tools.write(path, summary(numbers)),)))
    steps.append(Say("", (tools.run(f"cat {path}"),)))
    return [*steps, Say(done)]


class Folder:
    """The project in memory, for clients that are libraries: the tools of `PLAIN`."""

    def __init__(self, files: dict[str, str]) -> None:
        self.files = dict(files)

    def do(self, name: str, arguments: dict[str, str]) -> str:
        if name == "read_file":
            return self.files[arguments["path"]]
        if name == "write_file":
            self.files[arguments["path"]] = arguments["text"]
            return "written"
        return self._run(arguments["command"].split())

    def _run(self, words: list[str]) -> str:
        text = self.files[words[-1]]
        return text if words[0] == "cat" else f"{len(text.split())} {words[-1]}\n"


def _tool(name: str, *fields: str) -> dict[str, object]:
    properties = {field: {"type": "string", "description": f"the {field}"} for field in fields}
    parameters = {"type": "object", "properties": properties, "required": list(fields)}
    function = {"name": name, "description": f"{name}: {', '.join(fields)}"}
    return {"type": "function", "function": {**function, "parameters": parameters}}


DEFINITIONS = [_tool("read_file", "path"), _tool("run", "command"),
               _tool("write_file", "path", "text")]  # fmt: skip
