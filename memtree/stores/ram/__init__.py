"""The store in dictionaries: nothing outlives the process."""
