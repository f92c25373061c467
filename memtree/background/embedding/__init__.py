"""Stage 2: embed leaves in the background."""
