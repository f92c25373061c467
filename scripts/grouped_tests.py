"""Run the tests in groups that run beside each other.

    python scripts/grouped_tests.py [--timings FOLDER] -m "not outage and not long"
    python scripts/grouped_tests.py --halve tests/unit -m "not slow"

Each group is one pytest of its own over some folders of tests/, so no process collects what it
does not run, and while one waits for a server or a browser the others compute. All other arguments
go to every pytest. A group that failed is shown with all it printed, the others with their last
line. The exit status is 1 if any group failed, and the last line counts the tests of all.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
# By what they wait for. `tests/http` takes longest and is halved; folders that are named nowhere
# belong to the last group.
HALVED = "http"
GROUPS: dict[str, tuple[str, ...]] = {
    "unit": ("unit",),
    "stores": ("contracts",),
    "pages": ("browser", "redis", "properties"),
    "programs": (),
}
NO_TESTS = 5  # pytest's exit status where a selection leaves nothing
STATUS_SECONDS = 30.0  # between two lines that say how far the groups are
OUTCOMES = ("passed", "failed", "error", "skipped", "xfailed")


@dataclass(slots=True)
class Group:
    """A running pytest. `status` is None until it ends."""

    name: str
    process: subprocess.Popen[bytes]
    output: Path
    status: int | None = None
    seconds: float = 0.0

    def text(self) -> str:
        return self.output.read_text("utf-8", "replace")

    def progress(self) -> str:
        """How far it is, by the last figure in its output: `43 %`."""
        found = re.findall(r"\[ *(\d+)%\]", self.text())
        return f"{self.name} {found[-1] if found else 0} %"

    def counts(self) -> Counter[str]:
        """Tests by outcome, from pytest's last line."""
        lines = self.text().strip().splitlines()
        found = re.findall(r"(\d+) ([a-z]+)", lines[-1] if lines else "")
        counts = Counter({word.removesuffix("s"): int(number) for number, word in found})
        return Counter({name: counts[name] for name in OUTCOMES})


def folders(tests: Path) -> dict[str, list[str]]:
    """The folders of each group; each folder of `tests` but the halved one is in one of them."""
    there = sorted({path.relative_to(tests).parts[0] for path in tests.glob("*/**/test_*.py")
                    if "node_modules" not in path.parts and ".venv" not in path.parts})  # fmt: skip
    named = {HALVED, *(folder for group in GROUPS.values() for folder in group)}
    last = list(GROUPS)[-1]
    members = {name: [one for one in group if one in there] for name, group in GROUPS.items()}
    members[last] += [one for one in there if one not in named]
    return {name: [f"tests/{one}" for one in group] for name, group in members.items() if group}


def halves(folder: Path) -> dict[str, list[str]]:
    """The files of one folder in two groups of about the same size."""
    files = sorted(folder.rglob("test_*.py"), key=lambda file: (-file.stat().st_size, file))
    names = [str(file.relative_to(ROOT)) for file in files]
    parts = {f"{folder.name} 1": names[::2], f"{folder.name} 2": names[1::2]}
    return {name: part for name, part in parts.items() if part}


def groups_of(tests: Path) -> dict[str, list[str]]:
    """The paths of all groups by name."""
    return halves(tests / HALVED) | folders(tests)


def start(name: str, paths: Sequence[str], more: Sequence[str], output: Path) -> Group:
    command = [sys.executable, "-m", "pytest", "-q", *more, *paths]
    with output.open("wb") as file:
        process = subprocess.Popen(command, cwd=ROOT, stdout=file, stderr=subprocess.STDOUT)
    return Group(name, process, output)


def run(groups: Sequence[Group]) -> None:
    """Wait for all, and say how far they are. None outlives this call."""
    begun = told = time.monotonic()
    try:
        while waiting := [group for group in groups if group.status is None]:
            time.sleep(0.1)
            now = time.monotonic()
            for group in waiting:
                group.status = group.process.poll()
                if group.status is not None:
                    group.seconds = now - begun
                    report(group)
            if now - told > STATUS_SECONDS:
                told = now
                print(f"{now - begun:5.0f} s", *map(Group.progress, waiting), sep="   ", flush=True)
    finally:
        for group in groups:
            group.process.terminate()
        for group in groups:
            group.process.wait()


def report(group: Group) -> None:
    """Print the last line of a group that passed, and all of one that failed."""
    text = group.text().strip()
    print(f"{group.name}: {text if failed(group) else text.splitlines()[-1]}", flush=True)


def failed(group: Group) -> bool:
    return group.status not in (0, NO_TESTS)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Run the tests in groups beside each other.")
    parser.add_argument("--timings", metavar="FOLDER", help="write each test's time there, as XML")
    parser.add_argument("--halve", metavar="FOLDER", help="run this folder alone, in two groups")
    options, more = parser.parse_known_args(arguments)
    tests = ROOT / "tests"
    members = halves(ROOT / options.halve) if options.halve else groups_of(tests)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    with tempfile.TemporaryDirectory(prefix="memtree-tests-") as made:
        groups = []
        for name, paths in members.items():
            timed = []
            if options.timings:
                file = Path(options.timings).absolute() / f"{name}.xml"
                timed = ["-o", "junit_duration_report=total", f"--junitxml={file}"]
            groups.append(start(name, paths, [*timed, *more], Path(made, name)))
        run(groups)
        counts: Counter[str] = Counter()
        for group in groups:
            counts += group.counts()
    broken = [group.name for group in groups if failed(group)]
    if broken:
        print("failed:", *broken)
    bad = counts["failed"] + counts["error"]
    print(f"{counts['passed']} passed, {bad} failed, {counts['skipped']} skipped", flush=True)
    return 1 if broken else 0


if __name__ == "__main__":
    os.chdir(ROOT)
    sys.exit(main(sys.argv[1:]))
