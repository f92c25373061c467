"""Classify commands by their program: test, build, install, run or change something, or only read
and search."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memtree.digests.tool_calls.fields import BUILD, CHANGE, INSTALL, RUN, TEST
from memtree.language.word_file import WordFiles

_PYTHON = re.compile(r"(?:python|pypy)[\d.]*$")
_TEST_NAME = re.compile(
    r"(?:^|[\W_])(?:run_?)?(?:tests?|specs?|check|e2e)(?:$|[\W_])", re.IGNORECASE
)
_QUERIES = frozenset({"--version", "-v", "-V", "--help", "-h", "version", "help", "-version"})


def readers() -> frozenset[str]:
    return _words("readers")


def _words(section: str) -> frozenset[str]:
    return WordFiles("programs").word_set(section)


def program(word: str) -> str:
    """Return the name of a program without its folder.

    >>> program("./node_modules/.bin/jest")
    'jest'
    """
    name = word.rstrip("/").rpartition("/")[2].rpartition("\\")[2]
    return name.removesuffix(".exe").removesuffix(".cmd")


def purpose(words: Sequence[str]) -> int:
    """Return the purpose of a simple command; 0 if it only reads.

    >>> [purpose(line.split()) for line in ("python -m pytest", "npm run build", "grep x a.py")]
    [1, 2, 0]
    """
    name = program(words[0])
    rest = list(words[1:])
    if not name or name in readers() or (len(rest) == 1 and rest[0] in _QUERIES):
        return 0
    if _PYTHON.match(name):
        return _python(rest)
    verb = next((word for word in rest if not word.startswith(("-", "+"))), "")
    if name in _words("tests"):
        return TEST
    if name in _words("runners") or (
        name in ("uv", "poetry", "pdm", "hatch", "bundle", "rye", "pipenv")
        and verb in ("run", "exec")
    ):
        at = rest.index(verb) + (name not in _words("runners")) if verb in rest else len(rest)
        return purpose(rest[at:]) if at < len(rest) else RUN
    if name in _words("packagers"):
        return _packager(name, verb, rest)
    if name in _words("installers"):
        return INSTALL if verb in _words("installs") or verb in ("build-dep", "dist-upgrade") else 0
    if name in _words("builds"):
        return _build(name, rest)
    if name == "git":
        return CHANGE if _git_verb(rest) in _words("git_changes") else 0
    if name in _words("changes"):
        return (
            CHANGE
            if name not in ("sed", "perl") or any(w.startswith("-") and "i" in w[:4] for w in rest)
            else 0
            if name == "sed"
            else RUN
        )
    if name in ("docker", "podman"):
        return {"build": BUILD, "run": RUN, "exec": RUN, "compose": RUN}.get(
            verb, CHANGE if verb in ("rm", "stop", "start", "kill", "push", "pull") else 0
        )
    if name in (
        "bash",
        "sh",
        "zsh",
        "source",
        "node",
        "ruby",
        "java",
        "lua",
        "Rscript",
        "julia",
        "pwsh",
    ):
        return TEST if verb and _TEST_NAME.search(program(verb)) else RUN
    if "/" in words[0] or "." in name or name.isidentifier() or name.replace("-", "").isalnum():
        return TEST if _TEST_NAME.search(name) else RUN
    return 0


def _git_verb(rest: Sequence[str]) -> str:
    skip = False
    for word in rest:
        if skip:
            skip = False
        elif word in ("-C", "-c"):
            skip = True
        elif not word.startswith("-"):
            return word
    return ""


def _python(rest: Sequence[str]) -> int:
    if "-m" in rest[:3]:
        at = list(rest).index("-m")
        module = rest[at + 1] if at + 1 < len(rest) else ""
        if module in ("unittest", "doctest"):
            return TEST
        return purpose([module, *rest[at + 2 :]]) if module else RUN
    script = next((word for word in rest if not word.startswith("-")), "")
    if script == "manage.py" and "test" in rest:
        return TEST
    return TEST if script and "-c" not in rest and _is_test(script) else RUN


def _is_test(script: str) -> bool:
    return bool(_TEST_NAME.search(program(script).removesuffix(".py")))


def _packager(name: str, verb: str, rest: Sequence[str]) -> int:
    after = list(rest)[list(rest).index(verb) + 1 :] if verb else []
    following = next((word for word in after if not word.startswith("-")), "")
    script = (
        following
        if verb in ("run", "run-script", "exec", "dlx", "x", "pip") and following
        else verb
    )
    if verb == "pip":
        return INSTALL if following in _words("installs") else 0
    if (
        verb in ("run", "exec", "x", "dlx")
        and name in ("npm", "pnpm", "yarn", "bun", "deno")
        and purpose([script]) in (TEST, BUILD)
    ):
        return purpose([script])
    if script in ("t", "test", "nextest", "spec", "verify") or (
        _TEST_NAME.search(script) and script != "check"
    ):
        return TEST
    if script in _words("build_verbs") or script.startswith(
        ("build", "lint", "typecheck", "compile")
    ):
        return BUILD
    if verb in _words("installs") or (name == "yarn" and not verb):
        return INSTALL
    return 0 if script in _words("lists") or (not script and name != "just") else RUN


def _build(name: str, rest: Sequence[str]) -> int:
    if name in ("make", "gmake", "ninja"):
        targets = [word for word in rest if not word.startswith("-") and "=" not in word]
        return TEST if any(_TEST_NAME.search(word) for word in targets) else BUILD
    return BUILD
