from collections.abc import Sequence


def particular(text: str, anchors: Sequence[str], siblings: Sequence[str]) -> bool:
    return bool(text)
