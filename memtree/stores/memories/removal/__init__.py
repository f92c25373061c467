"""Remove memories: delete them, erase them for good, sweep what is left."""
