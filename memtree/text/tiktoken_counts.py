"""Count tokens with tiktoken, on machines without `toktok` (which has no wheel for Alpine).

The functions have toktok's names and arguments, as far as `tokens` uses them. tiktoken's wheel
holds no vocabulary and downloads it at first use. Here downloads are refused: the vocabulary has to
be in tiktoken's cache (`TIKTOKEN_CACHE_DIR`) already.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, NoReturn

from memtree.errors import Unavailable

if TYPE_CHECKING:
    from tiktoken import Encoding

MISSING = (
    "tokens cannot be counted: install toktok-rs, or tiktoken with the vocabulary of {} in its "
    "cache (TIKTOKEN_CACHE_DIR)"
)


def truncate(text: str, limit: int, encoding: str) -> tuple[str, int]:
    """Return the longest prefix within `limit` tokens, cut between characters, and the tokens of
    the whole text. Raises `Unavailable`."""
    ids = vocabulary(encoding).encode_ordinary(text)
    if len(ids) <= limit:
        return text, len(ids)
    kept = vocabulary(encoding).decode_bytes(ids[:limit])
    return kept.decode("utf-8", errors="ignore"), len(ids)


def batch_count(texts: Iterable[str], encoding: str, threads: int) -> list[int]:
    """Count the tokens of each text, in order. Raises `Unavailable`."""
    batch = vocabulary(encoding).encode_ordinary_batch(list(texts), num_threads=threads)
    return [len(ids) for ids in batch]


@cache
def vocabulary(encoding: str) -> Encoding:
    """Load an encoding from tiktoken's cache. Raises `Unavailable` if it is not there."""
    try:
        import tiktoken  # noqa: PLC0415  in the place of a package of ours
        import tiktoken.load  # noqa: PLC0415

        tiktoken.load.read_file = _refuse  # refuses the download
        return tiktoken.get_encoding(encoding)
    except (ImportError, OSError) as error:
        raise Unavailable(MISSING.format(encoding)) from error


def _refuse(place: str) -> NoReturn:
    raise FileNotFoundError(place)
