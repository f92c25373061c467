"""Results and code in words."""

from __future__ import annotations

import pytest

from memtree.digests.clauses.clauses import results
from memtree.digests.clauses.particular import is_boilerplate


def test_lines_of_a_file_are_named_by_the_head_of_their_message():
    text = "\n".join(f"{number}| def step_{number}(x):" for number in range(20, 30))
    (clause,) = results(text, head="<path>src/steps.py</path>")
    assert clause.brief == "src/steps.py lines 20-29"
    assert "def step_20" in clause.text


@pytest.mark.parametrize(
    "line",
    [
        "TypeError: no field",
        "4 errors: ERROR",
        "Access is Denied",
        "the panic came late",
        "NOT FOUND here",
        "Unable to open it",
        "it timed out again",
    ],
)
def test_a_line_of_trouble_is_told_in_any_case_of_its_words(line):
    (clause,) = results(f"alpha\nbeta\n{line}\ngamma")
    assert clause.text == line
    assert clause.outcome


@pytest.mark.parametrize(
    "line",
    [
        "I will use a tool.",
        "Step 4: I will use a tool",
        "# 1 SEARCH/REPLACE block failed to match!",
        "ERROR: Cannot install sentence-transformers",
        "Running command: make -n build",
    ],
)
def test_what_clients_say_in_every_session_is_boilerplate(line):
    assert is_boilerplate(line)


def test_what_is_done_with_a_mutex_is_no_boilerplate():
    assert not is_boilerplate("I will use a mutex around the queue")
    assert not is_boilerplate("Error budgets are spent by the gateway")
