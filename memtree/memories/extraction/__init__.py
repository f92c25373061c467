"""Find by rules what of a user's message is worth remembering: no model, values in, values out."""
