"""MemTree: a tree-shaped context memory for any LLM client.

`open` and `open_sync` are the library. The rooms below `ports/` are pure: values in, values out.
`models/` and `stores/` are the adapters; `context/` is the one use case, which awaits the ports in
order. What opens a store is imported when it is named first: `import memtree` alone stays cheap.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from memtree.errors import MemTreeError
from memtree.history.message import Message, read_messages

if TYPE_CHECKING:
    from memtree.library import (
        Compressed,
        MemTree,
        MemTreeSync,
        Passage,
        SavedMemories,
        SavedMemoriesSync,
    )
    from memtree.library import open_memory as open
    from memtree.library import open_memory_sync as open_sync

__version__ = "1.0.0rc2"

__all__ = [
    "Compressed",
    "MemTree",
    "MemTreeError",
    "MemTreeSync",
    "Message",
    "Passage",
    "SavedMemories",
    "SavedMemoriesSync",
    "__version__",
    "open",
    "open_sync",
    "read_messages",
]

_OPENERS = {"open": "open_memory", "open_sync": "open_memory_sync"}


def __getattr__(name: str) -> Any:
    """Import what opens a store. Raises `AttributeError`."""
    if name not in __all__:
        raise AttributeError(f"module 'memtree' has no attribute {name!r}")
    return getattr(import_module("memtree.library"), _OPENERS.get(name, name))
