"""Modules joined into one script do in Node what they do one by one."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from memtree_proxy.server.web_pages import joined, resolved

SCRIPTS = {
    "a/page.js": (
        '/** import { no } from "./nothing.js"; */\n'
        'import { add, Box as Crate } from "../b/sum.js";\n'
        "import {\n  LIST,\n  again,\n} from './list.js';\n"
        "/**\n * export function said() {}\n */\n"
        'const text = `\n${add(1, 2)} */ /** kept`;\n'
        "console.log(JSON.stringify([text, new Crate(4).value, LIST, again(3)]));\n"
        'export const late = () => import("./late.js");\n'
        "console.log(String(late));\n"
    ),
    "b/sum.js": (
        'import { h as one } from "../vendor/tiny.js";\n'
        "export function add(a, b) { return a + b + one; }\n"
        "export class Box { constructor(value) { this.value = add(value, 0); } }\n"
        'export { again } from "../a/again.js";\n'
    ),
    "a/list.js": (
        'import { again } from "../b/sum.js";\nexport const LIST = [1];\nexport { again };\n'
    ),
    "a/again.js": "export async function later() {}\nexport function again(n) { return n * 2; }\n",
    "vendor/tiny.js":
        'var x=1,s="export{";export{x as h,s as t};\n//# sourceMappingURL=tiny.js.map\n',
    "a/late.js": "export const x = 1;\n",
}  # fmt: skip


@pytest.mark.skipif(shutil.which("node") is None, reason="no node here")
def test_a_joined_script_does_what_its_modules_do(tmp_path: Path):
    file = tmp_path / "page.mjs"
    file.write_text(joined("a/page.js", SCRIPTS, "/ui/static/"), "utf-8")
    done = subprocess.run(["node", file], capture_output=True, text=True, check=True, timeout=60)
    said, late = done.stdout.splitlines()
    assert said == r'["\n4 */ /** kept",5,[1],6]'
    assert late == '() => import("/ui/static/a/late.js")'


def test_each_module_stands_once_behind_what_it_imports():
    text = joined("a/page.js", SCRIPTS, "/s/")
    places = [
        text.index(part) for part in ("var x=1", "n * 2", "class Box", "LIST = [1]", "text =")
    ]
    assert places == sorted(places)
    assert text.count("class Box") == 1
    assert "export const x" not in text, "what is loaded late is not joined"


@pytest.mark.parametrize(
    ("scripts", "said"),
    [
        (
            {"p.js": 'import { a } from "./q.js";\n', "q.js": 'import { b } from "./p.js";\n'},
            "itself",
        ),
        ({"p.js": 'import { a } from "./q.js";\n'}, "missing"),
        ({"p.js": "export default 1;\n"}, "a form that is not supported"),
        ({"p.js": 'import q from "./q.js";\n'}, "a form that is not supported"),
        ({"p.js": 'import * as q from "./q.js";\n'}, "a form that is not supported"),
        ({}, "missing"),
    ],
)  # fmt: skip
def test_what_cannot_be_joined_is_refused(scripts: dict[str, str], said: str):
    with pytest.raises(ValueError, match=said):
        joined("p.js", scripts, "/s/")


def test_names_lead_up_and_down():
    assert resolved("a/b/c.js", "../d.js") == "a/d.js"
    assert resolved("a/b/c.js", "./e/f.js") == "a/b/e/f.js"
