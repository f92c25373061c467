"""What a rule can tell of a text: tokens, terms, anchors, secrets, standing rules, languages."""
