"""Clients and programs that measurements start."""
