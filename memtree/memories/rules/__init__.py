"""Rules for memories, as pure functions: texts and values in, decisions out."""
