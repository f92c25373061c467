"""Find by rules what a text holds: tokens, terms, secrets, rules of its author, texts of others.

Everything here reads one text, in any language, and knows nothing of who posted it.
"""
