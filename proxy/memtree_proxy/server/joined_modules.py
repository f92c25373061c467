"""Join the modules of a page into one script, so that a slow connection loads one file instead of
dozens.

Supports the form of the modules in `web/`, and refuses others: they import names (`import { a, b as
c } from "./x.js"`), they export declarations (`export function f`) or a list, and imports form no
cycles. Each becomes a function that runs once and returns its exports, placed after those that it
imports. So neither developers nor the sdist need a bundler.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache

_IMPORT = re.compile(r"""^import\s*(?:\{([^}]*)\}\s*from\s*)?["']([^"']+)["'];?[ \t]*\n?""", re.M)
_PASSED_ON = re.compile(r"""^export\s*\{([^}]*)\}\s*from\s*["']([^"']+)["'];?[ \t]*\n?""", re.M)
_DECLARATION = re.compile(
    r"^export (?=(?:async )?(?:function|class|const|let) ?\*? ?([\w$]+))", re.M
)
_LIST = re.compile(r"\bexport\s*\{([^{}]*)\}\s*;?\s*(?://.*\s*)?\Z")
_DOCUMENTATION = re.compile(r"^[ \t]*/\*\*.*?\*/[ \t]*\n", re.M | re.S)
_LOADED_LATE = re.compile(r"""\bimport\((["'])(\.{1,2}/[^"']+)\1\)""")
_LEFT = re.compile(r"^(?:import|export)\b", re.M)


def joined(module: str, scripts: Mapping[str, str], static: str) -> str:
    """Return one script that does what `module` does.

    `scripts`: the text of each module by its name, such as `chat/page.js`. `static`: the address
    below which modules that are loaded late are served. Raises `ValueError` if a module is missing,
    imports itself, or has another form.
    """
    order: list[str] = []
    _visit(module, scripts, order, ())
    return "".join(_function(name, scripts[name], static) for name in order)


def resolved(module: str, target: str) -> str:
    """Return the name of the module that `module` imports as `target`, such as
    `../shell/key.js`."""
    parts = module.split("/")[:-1]
    for step in target.split("/"):
        if step == "..":
            parts = parts[:-1]
        elif step != ".":
            parts.append(step)
    return "/".join(parts)


def _visit(
    module: str, scripts: Mapping[str, str], order: list[str], above: tuple[str, ...]
) -> None:
    """Append the module to `order`, after its imports."""
    if module in order:
        return
    if module in above:
        raise ValueError(f"{module} imports itself over {above[-1]}")
    if module not in scripts:
        raise ValueError(f"{above[-1] if above else 'a page'} imports {module}, which is missing")
    for match in (*_IMPORT.finditer(scripts[module]), *_PASSED_ON.finditer(scripts[module])):
        _visit(resolved(module, match[2]), scripts, order, (*above, module))
    order.append(module)


@cache  # pages share most of their modules
def _function(name: str, text: str, static: str) -> str:
    """Return the module as a function that is called at once, assigned to its name in the
    script."""
    exports = [(export, export) for export in _DECLARATION.findall(text)]

    def imported(match: re.Match[str]) -> str:
        taken = _listed(_pairs(match[1] or ""))
        return f"const {{ {taken} }} = {_bound(resolved(name, match[2]))};\n"

    def passed_on(match: re.Match[str]) -> str:
        source = _bound(resolved(name, match[2]))
        exports.extend((f"{source}.{theirs}", ours) for theirs, ours in _pairs(match[1]))
        return ""

    def listed(match: re.Match[str]) -> str:
        exports.extend(_pairs(match[1]))
        return ""

    text = _DOCUMENTATION.sub("", text)
    for pattern, replacement in (
        (_PASSED_ON, passed_on), (_IMPORT, imported), (_DECLARATION, ""), (_LIST, listed),
        (_LOADED_LATE, lambda match: f'import("{static}{resolved(name, match[2])}")'),
    ):  # fmt: skip
        text = pattern.sub(replacement, text)
    if (left := _LEFT.search(text)) and not left.string.startswith("import(", left.start()):
        raise ValueError(f"{name} has a form that is not supported: {text[left.start() :][:60]!r}")
    returned = _listed((ours, value) for value, ours in exports)
    return f"const {_bound(name)} = (() => {{\n{text}\nreturn {{ {returned} }};\n}})();\n"


def _bound(name: str) -> str:
    """Return the variable for a module; no variable inside the module has this name."""
    return re.sub(r"\W", "_", name) + "$"


def _listed(pairs: Iterable[tuple[str, str]]) -> str:
    """Return the fields of an object, or of its pattern: `a, b: c`."""
    return ", ".join(key if key == value else f"{key}: {value}" for key, value in pairs)


def _pairs(names: str) -> list[tuple[str, str]]:
    """Return (a, b) for each `a as b` of a list, and (a, a) for each `a`."""
    items = [item.split() for item in names.split(",") if item.strip()]
    return [(words[0], words[-1]) for words in items]
