"""The library: `memtree.open` and `memtree.open_sync`, which the package `memtree` re-exports."""
