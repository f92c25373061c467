"""The library's door: `memtree.open` and `memtree.open_sync`, which `memtree` hands on by name."""
