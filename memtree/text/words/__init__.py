"""Words of a text: its terms, which of them say something, and its anchors."""
