"""`memtree completion SHELL`: print a script with which a shell completes commands and options.

The script holds all words, so completing starts no Python. Where no word fits, file names do;
options are offered behind a dash.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

from memtree.config import Settings
from memtree_proxy.cli.main import build_parser

# `{commands}`: the words behind `memtree`; `{cases}`: those behind a command, or its action.
_BASH = """\
_memtree() {{
    local typed=${{COMP_WORDS[COMP_CWORD]}} key=${{COMP_WORDS[1]}} fitting="" left_out="-*"
    ((COMP_CWORD > 2)) && key+=" ${{COMP_WORDS[2]}}"
    ((COMP_CWORD == 1)) && key="" fitting="{commands}"
    case "$key" in
{cases}
    esac
    [[ $typed == -* ]] && left_out=""
    COMPREPLY=($(compgen -X "$left_out" -W "$fitting" -- "$typed"))
}}
complete -o default -F _memtree memtree"""
_ZSH = """\
#compdef memtree
_memtree() {{
    local key=${{words[2]}} fitting=""
    ((CURRENT > 3)) && key+=" ${{words[3]}}"
    ((CURRENT == 2)) && key="" fitting="{commands}"
    case "$key" in
{cases}
    esac
    local -a fitting_words=(${{=fitting}})
    [[ ${{words[CURRENT]}} == -* ]] || fitting_words=(${{fitting_words:#-*}})
    compadd -a fitting_words || _files
}}
compdef _memtree memtree"""
_FISH = """\
function __memtree_words
    set -l typed (commandline -opc)
    test (count $typed) -eq 1; and printf "%s\\n" {commands}; and return
    switch (string join " " $typed[2..3])
{cases}
    end
end
complete -c memtree -a "(__memtree_words)\""""
_CASE = """        {patterns}) fitting="{words}" ;;"""
_FISH_CASE = """        case {patterns}\n            printf "%s\\n" {words}"""
_SCRIPTS = {"bash": (_BASH, _CASE), "zsh": (_ZSH, _CASE), "fish": (_FISH, _FISH_CASE)}


async def run(options: argparse.Namespace, settings: Settings) -> int:
    script, case = _SCRIPTS[options.shell]
    fish = options.shell == "fish"
    commands, *others = completed(build_parser())
    cases = []
    for path, words in others:
        typed = " ".join(path)
        patterns = [f"'{typed}'"]
        if len(path) == 1:  # also with other words behind it
            patterns += [f"'{typed} *'" if fish else f"'{typed} '*"]
        cases.append(case.format(patterns=(" " if fish else "|").join(patterns), words=words))
    print(script.format(commands=commands[1], cases="\n".join(cases)))
    return 0


def completed(
    parser: argparse.ArgumentParser, path: Sequence[str] = ()
) -> Iterator[tuple[Sequence[str], str]]:
    """Yield each command, as the words typed for it, with the words that may follow: actions and
    other fixed values, and options. The parser itself is first, a command's actions come before the
    command."""
    words, below = list[str](), dict[str, argparse.ArgumentParser]()
    for action in parser._actions:
        if action.help == argparse.SUPPRESS and not action.choices:
            continue
        words += action.option_strings or (str(each) for each in action.choices or ())
        if isinstance(action.choices, dict):
            below = action.choices
    own = (path, " ".join(words))
    if not path:
        yield own
    for name, inner in below.items():
        yield from completed(inner, (*path, name))
    if path:
        yield own
