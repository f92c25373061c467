"""Plain sentences of many topics in fourteen languages, which memories are compared against."""
