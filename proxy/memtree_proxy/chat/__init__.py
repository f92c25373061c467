"""A conversation on its way to the upstream (`/chat/completions`, `/messages`, `/responses`), with
its history shortened by memory, and the answer on its way back. Wire forms are
`memtree_proxy.dialects`."""
