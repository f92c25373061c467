"""Base58, as Solana writes addresses and keys: of a known number of bytes.

Converting bases takes time in the square of the length, so no more digits are read than the known
number of bytes can have.
"""

from __future__ import annotations

ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

_VALUES = {digit: value for value, digit in enumerate(ALPHABET)}
_DIGITS_A_BYTE = 138  # per 100 bytes: log(256) / log(58) is 1.366


def decoded(text: str, size: int) -> bytes | None:
    """The `size` bytes that `text` means; None where it means anything else.

    >>> decoded("1112", 4)
    b'\\x00\\x00\\x00\\x01'
    >>> decoded("112", 4) is None
    True
    """
    if not text or len(text) > size * _DIGITS_A_BYTE // 100 + 1:
        return None
    number = 0
    for digit in text:
        value = _VALUES.get(digit)
        if value is None:
            return None
        number = number * 58 + value
    zeros = len(text) - len(text.lstrip(ALPHABET[0]))
    length = (number.bit_length() + 7) // 8
    # Each leading zero byte is a digit of its own, so no two texts mean the same bytes.
    return number.to_bytes(size, "big") if zeros + length == size else None


def encoded(raw: bytes) -> str:
    """The digits of a key or an address."""
    number = int.from_bytes(raw, "big")
    digits: list[str] = []
    while number:
        number, value = divmod(number, 58)
        digits.append(ALPHABET[value])
    zeros = len(raw) - len(raw.lstrip(b"\0"))
    return ALPHABET[0] * zeros + "".join(reversed(digits))
