"""Files of memories: exports, and imports of ours and of other products.

Conversations of other programs are imported by `memtree_proxy.imports`.
"""
