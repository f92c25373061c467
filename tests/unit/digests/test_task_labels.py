"""Tasks behind labels, in messages that begin with instructions."""

from __future__ import annotations

import pytest

from memtree.digests.summarize import READ, labelled

ISSUE = """We're currently working on the following issue. Here's the issue text:
ISSUE:
Pagination drops the last page
When I ask for page 3 of 3 with a size of 20 the answer is empty. ...
"""
UPLOADED = """I've uploaded a repository in the directory shop. Consider the following issue:

<issue_description>
Cart total ignores discounts above ten percent
Steps to reproduce: ...
</issue_description>
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (ISSUE, "Pagination drops the last page"),
        (UPLOADED, "Cart total ignores discounts above ten percent"),
        ("Here is an example of how it is done.\n" + ISSUE, ""),
        ("Task:\n- -\n\nGoal: mend the harbour's crane", "mend the harbour's crane"),
        ("a " * READ + ISSUE, ""),
        ("Mend the harbour's crane", ""),
    ],
)
def test_the_line_behind_a_label_is_the_task(text: str, expected: str) -> None:
    assert labelled(text) == expected
