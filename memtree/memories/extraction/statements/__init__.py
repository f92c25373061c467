"""How people state what lasts about themselves, by language and kind."""
