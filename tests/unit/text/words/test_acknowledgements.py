"""Check which messages merely acknowledge."""

from __future__ import annotations

import pytest

from memtree.text.requests import is_acknowledgement


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ok",
        "OK!",
        "Ok, thanks.",
        "sounds good, go ahead",
        "Yes please do it",
        "It's great",
        "👍",
        "...",
        "danke, weiter",
        "oui merci",
        "sí, gracias",
        "não, obrigado",
        "да, спасибо",
        "好的，谢谢",
        "继续",
        "はい、ありがとう。",
        "네, 감사합니다",
    ],
)
def test_acknowledgements_ask_for_nothing(text):
    assert is_acknowledgement(text)


@pytest.mark.parametrize(
    "text",
    [
        "ok?",
        "好的？",
        "go on with step 2",
        "yes, Marigold",
        "ok now fix the parser",
        "no, not that",
        "please continue with the launch code",
        "ok ok ok ok ok ok ok ok ok",
        "thanks" + " " * 500 + "Now rename the launch code of Marigold.",
        "ok\n" + "=" * 500 + "\nERROR launch code rejected",
        "好的，请修改解析器",
        "да, но почему",
        "ja, aber welcher",
    ],
)
def test_what_only_looks_like_an_acknowledgement(text):
    assert not is_acknowledgement(text)
