"""Everyday sentences on many topics in fourteen languages, which memories are compared with."""
