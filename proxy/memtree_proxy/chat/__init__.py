"""Chat requests on their way to the upstream, and the answers on their way back.

The routes are `/chat/completions`, `/messages` and `/responses`; memory shortens the history. The
formats of the APIs are in `memtree_proxy.dialects`.
"""
