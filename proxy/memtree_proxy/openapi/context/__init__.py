"""Describe answers about conversations, requests and usage."""
