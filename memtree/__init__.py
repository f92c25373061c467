"""MemTree: a tree-shaped context memory for any LLM client.

The flat modules of this package are pure: values in, values out. `models/`, `stores/` and
`vectors.py` are the adapters; `compress.py` is the one place that awaits the ports in order.
"""

from memtree.errors import MemTreeError
from memtree.message import Message, read_messages

__version__ = "0.1.0"

__all__ = ["MemTreeError", "Message", "__version__", "read_messages"]
