"""Chat requests on their way to the upstream, and the answers on their way back.

`/chat/completions`, `/messages` and `/responses`, with their history shortened by memory. The
formats of the APIs are in `memtree_proxy.dialects`.
"""
