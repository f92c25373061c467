"""The made-up session that the command line and the pages show."""
