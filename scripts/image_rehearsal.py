"""Carry out what deploy/Dockerfile does, in a folder instead of an image: no Docker needed.

    python scripts/image_rehearsal.py FOLDER

The build context is what .dockerignore lets through; the first stage's RUN steps are executed with
/src and /opt/memtree replaced by folders, and what the last stage takes from it must be there.
Prints sizes. It proves the install steps, not the base image, users, or layers.
"""

import fnmatch
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
DOCKERFILE = ROOT / "deploy" / "Dockerfile"
MOUNT = re.compile(r"^(--\w+=\S+ +)+")


class Step(NamedTuple):
    """One instruction. `stage`: counted from 0."""

    stage: int
    word: str
    rest: str


def steps(text: str) -> Iterator[Step]:
    """The instructions; continued lines joined, comments left out."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    stage = -1
    for line in re.sub(r"\\\n", " ", "\n".join(lines)).splitlines():
        if not line.strip():
            continue
        word, _, rest = line.strip().partition(" ")
        stage += word == "FROM"
        yield Step(stage, word, rest.strip())


def ignored(path: str, rules: list[str]) -> bool:
    """Return True if .dockerignore keeps a file back: the last rule that fits decides, and a rule
    for a folder is one for all in it."""
    out = False
    for rule in rules:
        plain = rule.removeprefix("!").removeprefix("**/")
        parts = path.split("/")
        heads = ["/".join(parts[: n + 1]) for n in range(len(parts))]
        tails = parts if "**/" in rule else []
        if any(fnmatch.fnmatchcase(one, plain) for one in [*heads, *tails]):
            out = not rule.startswith("!")
    return out


def context(target: Path) -> None:
    """Copy what the builder would get."""
    text = (ROOT / ".dockerignore").read_text("utf-8")
    rules = [line.strip() for line in text.splitlines() if line.strip() and line[0] != "#"]
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"],  # not gigabytes of environments
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    for name in listed:
        if not ignored(name, rules) and (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, target / name)


def rehearse(folder: Path) -> Path:
    """Build below `folder`; the environment's folder. `CalledProcessError` where a step fails."""
    sent, source, made = folder / "context", folder / "src", folder / "memtree"
    context(sent)
    source.mkdir()
    env = dict(os.environ)
    for step in steps(DOCKERFILE.read_text("utf-8")):
        if step.word == "COPY" and not step.rest.startswith("--from"):
            *names, target = step.rest.split()
            _copy(sent, names, source if step.stage == 0 else made, target)
        elif step.word == "RUN" and step.stage == 0:
            _run(MOUNT.sub("", step.rest), source, made, env)
        elif step.word == "ENV" and step.stage == 0:
            env |= dict(part.split("=", 1) for part in step.rest.split())
    return made


def _copy(sent: Path, names: list[str], base: Path, target: str) -> None:
    place = base / target.removeprefix("/opt/memtree").strip("/")
    for name in names:
        if (sent / name).is_dir():
            shutil.copytree(sent / name, place, dirs_exist_ok=True)
        else:
            shutil.copyfile(sent / name, place / name if place.is_dir() else place)


def _run(command: str, source: Path, made: Path, env: dict[str, str]) -> None:
    here = command.replace("/opt/memtree", str(made))
    here = re.sub(r"\bpython -m\b", f"{sys.executable} -m", here)
    subprocess.run(["sh", "-ec", here], cwd=source, env=env, check=True)


def size(folder: Path) -> int:
    """Bytes of all files below."""
    return sum(one.stat().st_size for one in folder.rglob("*") if one.is_file())


def main(arguments: list[str]) -> int:
    (folder,) = arguments
    made = rehearse(Path(folder).resolve())
    print(f"{size(made) / 1e6:8.0f} MB  {made}")
    packages = sorted((size(p), p.name) for p in made.glob("lib/*/site-packages/*") if p.is_dir())
    for bytes_, name in reversed(packages[-12:]):
        print(f"{bytes_ / 1e6:8.0f} MB  {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
