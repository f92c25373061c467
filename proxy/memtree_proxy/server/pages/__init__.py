"""Web pages and what they load: files, scripts, sessions."""
