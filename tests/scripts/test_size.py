"""The measure of size: what counts, and what makes the check fail."""

from __future__ import annotations

import subprocess
import sys

import pytest

from scripts import size
from scripts.size import Size

SOURCE = '''"""A docstring
of two lines."""

# a comment
class Kept:
    """One more."""

    async def run(self):
        """And one.

        With a paragraph."""
        text = """words

        # words, too
        """
        return (
            text
        )
'''


def test_comments_docstrings_and_blank_lines_do_not_count():
    found = size.measure(SOURCE)
    assert found.lines == 18
    # A line of a text that looks like a comment is taken for one; no parser is asked for each line.
    assert found.code_lines == len(["class", "def", "text", '"""', "return", "text", ")"])
    assert found.functions == [("Kept.run", 8, 11, 0)]
    assert found.classes == [("Kept", 5, 14, 0)]
    assert found.nodes > 10
    assert size.measure(SOURCE, nodes=False).nodes == 0


def test_nested_functions_are_found_and_too_long_ones_named():
    inner = "\n".join(f"            a{n} = {n}" for n in range(100))
    source = f"def outer():\n    try:\n        pass\n    except E:\n        def inner():\n{inner}\n"
    wrong = list(size.too_long({"a.py": size.measure(source)}))
    assert wrong == [
        "a.py:1 outer: 105 lines, the limit is 100",
        "a.py:5 inner: 101 lines, the limit is 100",
    ]
    assert list(size.too_long({"a.py": size.measure("a = 1\n" * 501)})) == [
        "a.py: 501 lines, the limit is 500"
    ]


def test_a_folder_of_the_product_may_be_too_full_and_imports_are_counted():
    names = [f"memtree/room/{number}.py" for number in range(26)]
    assert list(size.too_full(names)) == ["memtree/room: 26 Python files, the limit is 25"]
    assert not list(size.too_full([*names[1:], "memtree/room/__init__.py"]))
    assert not list(size.too_full(name.replace("memtree", "tests") for name in names))
    source = "import a\nfrom b import (\n    c,\n    d,\n)\nif a:\n    import e\nx = 1\n"
    assert size.measure(source).imports == 6


WIDE = """
class Wide:
    kinds: ClassVar[int] = 0
    field: int

    def __init__(self, a, b, c, d, e, *, f, g, h):
        self.a, self.b = a, b
        if c:
            self.c: int = c
        other.d = d
"""


def test_the_product_has_limits_of_its_own_with_exceptions(monkeypatch):
    monkeypatch.setattr(size, "MAX_ATTRIBUTES", 3)
    long = "def long():\n" + "    a = 1\n" * 60
    measures = {"memtree/a.py": size.measure(WIDE + long), "tests/a.py": size.measure(WIDE + long)}
    where = "memtree/a.py"
    wide = f"{where}:2 Wide: 4 attributes, the limit is 3"
    assert sorted(size.too_long(measures)) == [
        f"{where}:11 long: 61 lines, the limit is 60",
        wide,
        f"{where}:6 Wide.__init__: 8 parameters, the limit is 7",
    ]
    text = "# head\nlines long 61 a table\nparameters Wide.__init__ 9 ports\nattributes Wide 3 -\n"
    allowed = size.read_exceptions(text)
    assert list(size.too_long(measures, allowed)) == [wide]
    over = {**allowed, ("attributes", "Wide"): 4, ("lines", "gone"): 70}
    assert list(size.too_long(measures, over)) == [
        "scripts/size_exceptions.txt: gone needs no exception for its lines any more"
    ]
    with pytest.raises(ValueError, match="not enough values"):
        size.read_exceptions("lines long 61\n")


def test_each_kind_of_file_has_a_row():
    files = {
        "memtree/a.py": b"a = 1\n", "proxy/memtree_proxy/b.py": b"b = 2\nc = 3\n",
        "proxy/memtree_proxy/web/c.js": b"c\n\nd\n", "proxy/memtree_proxy/web/d.css": b"e\n",
        "tests/e.py": b"e = 1\n", "tests/f.mjs": b"f\n", "docs/g.md": b"g\n",
    }  # fmt: skip
    rows = size.sizes(files, size.measure_all(files))
    assert rows["product"] == Size(2, 3, rows["memtree"].nodes + rows["proxy"].nodes)
    assert {row: (found.files, found.lines) for row, found in rows.items()} == {
        "memtree": (1, 1), "proxy": (1, 2), "product": (2, 3), "data": (1, 1),
        "JavaScript": (1, 2), "tests": (1, 1), "tests, JavaScript": (1, 1), "docs": (1, 1),
    }  # fmt: skip
    before = {"product": Size(1, 5, 9), "gone": Size(1, 1, 1)}
    told = "\n".join(size.table(rows, before))
    assert "3 (-2)" in told
    assert "(-1)" in told.splitlines()[-1]


def test_the_product_and_its_word_lists_have_figures():
    lists = b"# 7\n[pets]\ncat\ndog\n[all]\n{pets}\nmy (?:\ncat\ndog\n)s?\n"
    files = {
        "memtree/a.py": b"a = 1\n", "proxy/b.py": b"b = 1\n", "tests/c.py": b"c = 1\n",
        "memtree/language/data/en/pets.txt": lists, "memtree/other.txt": b"[a]\nb\n",
    }  # fmt: skip
    assert size.figures(files, size.measure_all(files, nodes_of=("memtree",))) == {
        "product": {
            "code_lines": 2,
            "ast_nodes": 5,
            "import_lines": 0,
            "files": 2,
            "folders": 2,
        },
        "word_lists": {"entries": 3, "bytes": len(lists)},
    }


def test_a_commit_is_read_as_the_working_tree_is(tmp_path, monkeypatch):
    def git(*words: str) -> None:
        who = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
        subprocess.run(["git", "-C", str(tmp_path), *who, *words], check=True, capture_output=True)

    monkeypatch.setattr(size, "ROOT", tmp_path)
    for folder in size.FOLDERS:
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.py").write_text("a = 1\n")
    (tmp_path / "docs" / "a name.md").write_text("ü\n")
    git("init", "-q")
    git("add", "-A")
    git("commit", "-q", "-m", "a")
    assert size.read_commit("HEAD") == size.read_files()


@pytest.mark.long
def test_the_command_prints_the_table():
    run = [sys.executable, "scripts/size.py"]
    told = subprocess.run(run, cwd=size.ROOT, capture_output=True, text=True, check=False).stdout
    assert "code lines" in told
    assert "product" in told
