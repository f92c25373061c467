"""MemTree: a tree-shaped context memory for any LLM client.

The rooms below `ports/` are pure: values in, values out. `models/` and `stores/` are the adapters;
`context/` is the one use case, which awaits the ports in order.
"""

from memtree.conversation.message import Message, read_messages
from memtree.errors import MemTreeError

__version__ = "1.0.0rc1"

__all__ = ["MemTreeError", "Message", "__version__", "read_messages"]
