"""Serve chat memory over HTTP: memories of one chat, saved by a model or a person."""
