"""Recognise what an upstream refuses, learn from it, and repeat the request in an acceptable
form."""
