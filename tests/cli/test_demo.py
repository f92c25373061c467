"""`memtree demo` without embeddings, as whoever installed only the core sees it."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

from memtree_proxy.cli.demo_command import EMBEDDING, FULL, NEXT
from memtree_proxy.cli.main import main


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder, out, err = tmp_path_factory.mktemp("demo"), io.StringIO(), io.StringIO()
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        patch.chdir(folder)
        patch.setenv("MEMTREE_EMBEDDER", "none")
        patch.setenv("COLUMNS", "100")
        assert main(["demo", "--tokens", "30000"]) == 0
    assert err.getvalue() == ""
    assert list(folder.iterdir()) == []
    return out.getvalue()


def test_it_shows_question_path_words_and_cost(shown: str) -> None:
    assert "In SHOP-108, which limit did we set in billing/merge_cart.py, and why?" in shown
    assert "└── 80-90 SHOP-108: please merge each cart in billing/merge_cart.py" in shown
    words = " ".join(shown.replace("│", " ").split())
    assert "I will guard it and set the limit to 3337, because the queue delivers twice" in words
    assert re.search(r"with memory +3,9\d{2} tokens +\$0\.004", shown)
    assert re.search(r"without +30,632 tokens +\$0\.031 +8 times as much", shown)
    assert len(re.findall(r"^  In SHOP-.*  yes *$", shown, re.MULTILINE)) == 4


@pytest.mark.parametrize("tokens", ["0", "-5", "9999", "2000001"])
def test_a_session_of_no_sensible_size_is_refused(
    capsys: pytest.CaptureFixture[str], tokens: str
) -> None:
    assert main(["demo", f"--tokens={tokens}"]) == 1
    said = f"memtree: --tokens {tokens}: the demo's session has from 10,000 to 2,000,000 tokens\n"
    assert capsys.readouterr() == ("", said)


@pytest.mark.parametrize("line", [EMBEDDING, FULL, NEXT])
def test_lines_are_wrapped_by_the_width_alone(line: str) -> None:
    assert "\n" not in line


def test_it_is_short_and_says_what_comes_next(shown: str) -> None:
    assert len(shown.splitlines()) < 45
    assert "Ranked by words alone: switched off." in shown
    assert "memtree serve" in shown.splitlines()[-1]


def test_the_page_shows_what_it_prints(shown: str) -> None:
    page = (Path(__file__).parents[2] / "docs/command-line.md").read_text("utf-8")
    example = page.partition("test_demo.py -->\n```\n")[2].partition("```")[0]
    assert (
        example.splitlines()
        == [line.rstrip() for line in shown.splitlines()][: len(example.splitlines())]
    )
