"""Runs of `memtree wrap` on a server: their leases and their folders."""
