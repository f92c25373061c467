"""Words of a text: its terms, its informative words, and its anchors."""
