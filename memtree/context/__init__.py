"""Context memory, the one use case: a posted history in, the messages for the model out.

It awaits ports and knows no adapter.
"""
