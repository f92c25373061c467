"""Tell by rules what a text holds: tokens, terms, anchors, secrets, standing rules, languages."""
