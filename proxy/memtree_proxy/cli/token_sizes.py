"""Short forms of token counts."""


def short(tokens: float) -> str:
    """Write a number of tokens in a few characters.

    >>> short(950), short(18_200), short(2_140_000)
    ('950', '18k', '2.1M')
    """
    if tokens < 1_000:
        return f"{tokens:.0f}"
    return f"{tokens / 1_000:.0f}k" if tokens < 999_500 else f"{tokens / 1_000_000:.1f}M"
