"""Draw trees, bars and foreign text in a terminal, so that the text cannot control the terminal."""
