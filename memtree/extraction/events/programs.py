"""Tell what programs are for: whether a command tests, builds, installs, runs or changes something,
or only reads and searches."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memtree.extraction.events.event import BUILD, CHANGE, INSTALL, RUN, TEST

READERS = frozenset(
    """
    ls cat bat head tail less more grep egrep fgrep rg ag ack find fd wc echo printf pwd which
    whereis type file stat du df tree printenv history man info awk sort uniq cut tr jq yq xxd
    hexdump strings nm objdump readelf od diff cmp comm md5sum sha1sum sha256sum id whoami uname
    date hostname ps top free uptime sleep true false test [ [[ apt-cache nl tac column basename
    dirname realpath readlink open goto scroll_down scroll_up find_file search_dir search_file
    search view view_file locate lsof netstat ss dig nslookup ping curl wget http for while case
    function return exit clear help wait get-content select-string get-childitem dir where tput
    jobs seq expr let read submit set_cursors decompile disassemble base64 zcat rev fold fmt pr
    yes : }
    """.split()
)
_TESTS = frozenset(
    """
    pytest py.test tox nox jest vitest mocha ava karma cypress ctest rspec phpunit bats nose2
    nosetests trial stestr behave minitest pest busted prove runtests
    """.split()
)
_BUILDS = frozenset(
    """
    make gmake cmake ninja meson gcc g++ clang clang++ cc c++ rustc javac tsc webpack rollup
    esbuild vite scons bazel ant msbuild xcodebuild ruff mypy eslint flake8 black prettier
    pylint pyright isort clippy tslint stylelint rubocop golangci-lint shellcheck autoconf
    automake configure ld ar
    """.split()
)
_INSTALLERS = frozenset(
    """
    apt apt-get yum dnf apk brew pacman conda mamba choco snap pip pip3 pipx gem
    """.split()
)
_CHANGES = frozenset(
    """
    unzip tar gzip gunzip mkdir rm mv cp touch chmod chown ln rmdir git kill pkill sed perl
    patch truncate dd rsync scp psql mysql sqlite3 redis-cli kubectl helm terraform systemctl
    service docker-compose alembic hg svn install
    """.split()
)
_PACKAGERS = frozenset(
    """
    npm pnpm yarn bun cargo go dotnet mvn gradle gradlew swift mix deno zig poetry uv bundle
    composer rake rails php sbt lein stack cabal flutter dart pdm hatch rye just task
    """.split()
)
_RUNNERS = frozenset(
    """
    npx bunx pnpx dlx
    """.split()
)
_PYTHON = re.compile(r"(?:python|pypy)[\d.]*$")
_GIT_CHANGES = frozenset(
    """
    commit push pull merge rebase cherry-pick checkout switch revert reset stash apply am clone
    init rm mv restore tag clean
    """.split()
)
_TEST_NAME = re.compile(
    r"(?:^|[\W_])(?:run_?)?(?:tests?|specs?|check|e2e)(?:$|[\W_])", re.IGNORECASE
)
_QUERIES = frozenset({"--version", "-v", "-V", "--help", "-h", "version", "help", "-version"})
_LISTS = frozenset(
    """
    list ls show info view outdated freeze search why audit config cache env which metadata tree
    fmt-check
    """.split()
)
_INSTALLS = frozenset(
    """
    install i ci add sync get remove uninstall update upgrade require restore mod
    """.split()
)
_BUILD_VERBS = frozenset(
    """
    build compile check vet clippy package assemble lint typecheck bundle fmt format tsc tidy
    """.split()
)


def program(word: str) -> str:
    """The name of a program without its folder.

    >>> program("./node_modules/.bin/jest")
    'jest'
    """
    name = word.rstrip("/").rpartition("/")[2].rpartition("\\")[2]
    return name.removesuffix(".exe").removesuffix(".cmd")


def purpose(words: Sequence[str]) -> int:
    """Return the purpose of a simple command, 0 where it only reads.

    >>> [purpose(line.split()) for line in ("python -m pytest", "npm run build", "grep x a.py")]
    [1, 2, 0]
    """
    name = program(words[0])
    rest = list(words[1:])
    if not name or name in READERS or (len(rest) == 1 and rest[0] in _QUERIES):
        return 0
    if _PYTHON.match(name):
        return _python(rest)
    verb = next((word for word in rest if not word.startswith(("-", "+"))), "")
    if name in _TESTS:
        return TEST
    if name in _RUNNERS or (
        name in ("uv", "poetry", "pdm", "hatch", "bundle", "rye", "pipenv")
        and verb in ("run", "exec")
    ):
        at = rest.index(verb) + (name not in _RUNNERS) if verb in rest else len(rest)
        return purpose(rest[at:]) if at < len(rest) else RUN
    if name in _PACKAGERS:
        return _packager(name, verb, rest)
    if name in _INSTALLERS:
        return INSTALL if verb in _INSTALLS or verb in ("build-dep", "dist-upgrade") else 0
    if name in _BUILDS:
        return _build(name, rest)
    if name == "git":
        return CHANGE if _git_verb(rest) in _GIT_CHANGES else 0
    if name in _CHANGES:
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
        return INSTALL if following in _INSTALLS else 0
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
    if script in _BUILD_VERBS or script.startswith(("build", "lint", "typecheck", "compile")):
        return BUILD
    if verb in _INSTALLS or (name == "yarn" and not verb):
        return INSTALL
    return 0 if script in _LISTS or (not script and name != "just") else RUN


def _build(name: str, rest: Sequence[str]) -> int:
    if name in ("make", "gmake", "ninja"):
        targets = [word for word in rest if not word.startswith("-") and "=" not in word]
        return TEST if any(_TEST_NAME.search(word) for word in targets) else BUILD
    return BUILD
