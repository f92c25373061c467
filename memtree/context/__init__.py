"""Context memory, the one use case: a posted history in, the messages for the model out.

The only room of the core that awaits ports; it knows ports and no adapter.
"""
