"""The demo session that the command line and the pages show."""
