"""Read what a shell command does: the files it writes, edits and deletes, and what it runs.

>>> [(action.kind, action.text) for action in commands(Field("cd /app && make -j4 2>&1 | tail -5"))]
[(7, 'make -j4')]

A git command is read for what it commits, reverts, deletes or moves. Commands are classified by
their program: they test, build, install, run or change something, or only read and search.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from memtree.digests.call_fields import (
    BUILD,
    CHANGE,
    COMMITTED,
    CREATED,
    DELETED,
    EDITED,
    INSTALL,
    RAN,
    RUN,
    TEST,
    UNDONE,
    WRITTEN,
    Action,
    Field,
    Span,
)
from memtree.digests.call_patches import first_line, is_patch, patched
from memtree.digests.shell_words import Command, Word, split
from memtree.language.word_file import WordFile, WordFiles

_PYTHON = re.compile(r"(?:python|pypy)[\d.]*$")
_TEST_NAME = re.compile(
    r"(?:^|[\W_])(?:run_?)?(?:tests?|specs?|check|e2e)(?:$|[\W_])", re.IGNORECASE
)
_INTERPRETERS = frozenset("bash sh zsh source node ruby java lua Rscript julia pwsh".split())
MAX_WORDS = 100  # words of a command by which it is classified; runners may stand behind runners
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


def program_purpose(words: Sequence[str]) -> int:
    """Return the purpose of a simple command; 0 if it only reads.

    >>> lines = ("python -m pytest", "npm run build", "grep x a.py")
    >>> [program_purpose(line.split()) for line in lines]
    [1, 2, 0]
    """
    name = program(words[0])
    rest = list(words[1:MAX_WORDS])
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
        return program_purpose(rest[at:]) if at < len(rest) else RUN
    if name in _words("packagers"):
        return _packager(name, verb, rest)
    if name in _words("installers"):
        return INSTALL if verb in _words("installs") or verb in ("build-dep", "dist-upgrade") else 0
    if name in _words("builds"):
        return _build(name, rest)
    if name == "git":
        return CHANGE if {*_git_words(rest)[:1]} & _words("git_changes") else 0
    if name in _words("changes"):
        edits = name not in ("sed", "perl") or any(w[:1] == "-" and "i" in w[:4] for w in rest)
        return CHANGE if edits else 0 if name == "sed" else RUN
    if name in ("docker", "podman"):
        return {"build": BUILD, "run": RUN, "exec": RUN, "compose": RUN}.get(
            verb, CHANGE if verb in ("rm", "stop", "start", "kill", "push", "pull") else 0
        )
    if name in _INTERPRETERS:
        return TEST if verb and _TEST_NAME.search(program(verb)) else RUN
    if "/" in words[0] or "." in name or name.isidentifier() or name.replace("-", "").isalnum():
        return TEST if _TEST_NAME.search(name) else RUN
    return 0


def _git_words(words: Sequence[str]) -> Sequence[str]:
    """Return the verb of a git command and what follows it."""
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in ("-C", "-c", "--git-dir", "--work-tree") else 1
    return words[at:]


def _python(rest: Sequence[str]) -> int:
    if "-m" in rest[:3]:
        at = list(rest).index("-m")
        module = rest[at + 1] if at + 1 < len(rest) else ""
        if module in ("unittest", "doctest"):
            return TEST
        return program_purpose([module, *rest[at + 2 :]]) if module else RUN
    script = next((word for word in rest if not word.startswith("-")), "")
    if script == "manage.py" and "test" in rest:
        return TEST
    if script and "-c" not in rest and _TEST_NAME.search(program(script).removesuffix(".py")):
        return TEST
    return RUN


def _packager(name: str, verb: str, rest: Sequence[str]) -> int:
    after = list(rest)[list(rest).index(verb) + 1 :] if verb else []
    following = next((word for word in after if not word.startswith("-")), "")
    runs = verb in ("run", "run-script", "exec", "dlx", "x", "pip")
    script = following if runs and following else verb
    if verb == "pip":
        return INSTALL if following in _words("installs") else 0
    if (
        verb in ("run", "exec", "x", "dlx")
        and name in ("npm", "pnpm", "yarn", "bun", "deno")
        and program_purpose([script]) in (TEST, BUILD)
    ):
        return program_purpose([script])
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


def file_action(kind: int, source: Field, word: Word, new: Span | None = None) -> Action:
    """Return an action on the file that a word names."""
    return Action(kind, word.text, source.span(word.start, word.end), new, shell=True)


def git_actions(command: Command, source: Field) -> Iterator[Action]:
    verbs = _git_words([word.text for word in command.words[1:]])
    if not verbs:
        return
    words = command.words[-len(verbs) :]
    verb, rest = words[0].text, words[1:]
    operands = [word for word in rest if not word.text.startswith("-")]
    if verb == "commit":
        named = _message(rest)
        if named is not None:
            start, end = named.start, named.end
            quoted = source.text[start : start + 1] in "\"'"
            line = source.text[start + quoted : end - quoted].split("\n")[0][:120]
            yield Action(COMMITTED, line, source.span(start + quoted, start + quoted + len(line)))
        elif command.body:
            span = first_line(source, *command.body)
            if span is not None:
                yield Action(COMMITTED, "", span)
        else:
            yield file_action(COMMITTED, source, words[0])
    elif verb in ("checkout", "restore"):
        marked = any(word.text == "--" for word in rest) or verb == "restore"
        files = [word for word in operands if "." in word.text or "/" in word.text]
        kept = any(word.text in ("--staged", "-b") for word in rest)
        if not kept and (marked or any("." in word.text for word in files)):
            for word in files or operands:
                yield file_action(UNDONE, source, word)
    elif verb in ("revert", "stash") or (verb == "reset" and any("hard" in w.text for w in rest)):
        if verb == "stash" and operands and operands[0].text not in ("push", "save"):
            return
        yield Action(
            UNDONE, f"git {verb}", source.span(command.words[0].start, (rest or words)[-1].end)
        )
    elif verb == "rm":
        for word in operands:
            yield file_action(DELETED, source, word)
    elif verb == "mv" and len(operands) > 1:
        yield file_action(DELETED, source, operands[0])
        yield file_action(CREATED, source, operands[-1])


def _message(words: Sequence[Word]) -> Word | None:
    """Return the commit message given on a command line."""
    for index, word in enumerate(words):
        named = word.text == "--message" or re.fullmatch(r"-[a-z]{0,4}m", word.text)
        if named and index + 1 < len(words) and not words[index + 1].text.startswith("$("):
            return words[index + 1]
    return None


_DATA = WordFile("all", "programs")

MAX_NAME = 400  # characters of a command shown as its name
_QUIET = _DATA.words("quiet")
_PAGERS = _DATA.words("pagers")
_SEQUELS = (";", "||", "&", "\n")  # the exit code is that of the command behind them
_EDIT = re.compile(r"\s{0,4}(?:edit|insert)(?: [\d:, ]{1,24})?\n")  # edits the open file
_WRITES_IN_CODE = re.compile(
    r"open\(\s?[rf]?['\"]([^'\"\n]{1,200})['\"],\s?(?:mode=)?['\"][wax]"
    r"|Path\(\s?[rf]?['\"]([^'\"\n]{1,200})['\"]\)\.write_"
    r"|writeFile(?:Sync)?\(\s?['\"`]([^'\"`\n]{1,200})"
)


def commands(source: Field) -> Iterator[Action]:
    """Yield the actions of a command line, files first."""
    text = source.text
    if is_patch(text):
        yield from patched(source)
        return
    if edit := _EDIT.match(text):
        end = text.find("\nend_of_", edit.end() - 1)
        new = first_line(source, edit.end(), len(text) if end < 0 else end)
        yield Action(EDITED, "", None, new)
        return
    simple = split(text)
    ran: list[tuple[Command, int]] = []
    first: Command | None = None  # the name begins with it: the acting command, or its input
    first_acts = piped = False
    folder = ""
    for command in simple:
        words = [word.text for word in command.words]
        name = program(words[0]) if words else ""
        if command.joint == "|" and (name in _PAGERS or not words):
            piped = True
            yield from _redirected(command, source, name)
            continue
        yield from _redirected(command, source, name)
        if not words or name in _QUIET:
            piped = piped or (bool(ran) and command.joint == "&")
            if name == "cd" and len(words) > 1 and words[1].startswith("/") and not ran:
                folder = words[1]
            continue
        acted = list(_files(command, source, name, words))
        yield from acted
        if command.body and not acted:
            yield from written_in(source, *command.body)
        by_itself = acted and (name == "create" or program_purpose(words) == CHANGE)
        if not ran and not (first and (first_acts or command.joint == "|")):
            first, first_acts = command, bool(acted)
        if not by_itself and (purpose := program_purpose(words)):
            ran.append((command, purpose))
            piped = False
        elif ran and command.joint in _SEQUELS and name != "exit":
            piped = piped or not any("$?" in word for word in words)
    if not ran or first is None:
        return
    start, end = first.words[0].start, ran[-1][0].words[-1].end
    end = min(end, start + MAX_NAME)
    name = " ".join(text[start:end].split())
    purposes = min(purpose for _, purpose in ran)
    yield Action(RAN, name, source.span(start, end), None, False, purposes, piped, False, folder)


def _redirected(command: Command, source: Field, name: str) -> Iterator[Action]:
    """Yield the files that a command's output is written to."""
    targets = [
        (op, word) for op, word in command.targets if ">" in op and "&" not in op.rstrip(">&")
    ]
    if name == "tee":
        flags = [word.text for word in command.words[1:] if word.text.startswith("-")]
        op = ">>" if "-a" in flags else ">"
        targets += [(op, word) for word in command.words[1:] if not word.text.startswith("-")]
    for op, word in targets:
        if op.startswith("2") or not is_file(word.text):
            continue
        new = None
        if command.body:
            new = first_line(source, *command.body)
        elif name in ("echo", "printf") and len(command.words) > 1:
            new = first_line(source, command.words[1].start, command.words[-1].end)
        kind = EDITED if op.endswith(">>") else WRITTEN
        yield file_action(kind, source, word, new)


def is_file(text: str) -> bool:
    return (
        bool(text)
        and not text.startswith(("/dev/", "&", "$(", "-", "/proc/"))
        and not text.rpartition("/")[2].startswith("$")  # which file that is, is not said
        and text not in "012"
    )


def _files(command: Command, source: Field, name: str, words: Sequence[str]) -> Iterator[Action]:
    """Yield the files that a command changes by itself."""
    paths = [
        word for word in command.words[1:] if not word.text.startswith("-") and is_file(word.text)
    ]
    if name in ("rm", "unlink", "rmdir", "del", "trash"):
        for word in paths:
            yield file_action(DELETED, source, word)
    elif name == "touch":
        for word in paths:
            yield file_action(CREATED, source, word)
    elif name in ("cp", "mv", "install") and len(paths) > 1:
        if name == "mv":
            for word in paths[:-1]:
                yield file_action(DELETED, source, word)
        if paths[-1].text.strip(".") and not paths[-1].text.endswith("/"):  # else a folder
            yield file_action(WRITTEN, source, paths[-1])
    elif name in ("sed", "perl", "gsed", "ruby") and _in_place(words):
        scripted = "-e" in words or any(flag.startswith("--expression") for flag in words)
        flags = {index + 1 for index, word in enumerate(words) if word in ("-e", "-f", "-pe")}
        operands = [
            word
            for index, word in enumerate(command.words)
            if index and index not in flags and word.text and word.text[0] != "-"
        ]
        perl_script = name != "sed" and any(i < len(words) for i in flags)
        script = [*(command.words[at] for at in sorted(flags) if at < len(words)), *operands][:1]
        new = [source.span(word.start, min(word.end, word.start + 120)) for word in script]
        for word in operands if scripted or perl_script else operands[1:]:
            if is_file(word.text):
                yield file_action(EDITED, source, word, new[0])
    elif name == "git":
        yield from git_actions(command, source)
    elif name in ("create",) and len(paths) == 1:
        yield file_action(CREATED, source, paths[0])


def _in_place(words: Sequence[str]) -> bool:
    return any(
        word.startswith("--in-place")
        or (word.startswith("-") and not word.startswith("--") and "i" in word[:5])
        for word in words[1:]
    )


def written_in(source: Field, start: int, end: int) -> Iterator[Action]:
    """Yield the files that a script in a here-document writes."""
    text = source.text
    for match in _WRITES_IN_CODE.finditer(text, start, end):
        group = match.lastindex or 1
        yield Action(EDITED, match[group], source.span(*match.span(group)), shell=True)
