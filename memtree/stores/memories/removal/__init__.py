"""Remove memories: delete them, erase them for good, and sweep leftovers."""
