"""Runs of `memtree wrap` on a server: leases and their folders."""
