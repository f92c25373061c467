"""`memtree memories`: manage saved memories as the operator of the store."""
