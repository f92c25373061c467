"""Chat requests on their way to the upstream (`/chat/completions`, `/messages`, `/responses`), with
their history shortened by memory, and the answers on their way back. The formats of the APIs are in
`memtree_proxy.dialects`."""
