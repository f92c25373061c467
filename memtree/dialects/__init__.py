"""Read histories in the dialects of three APIs as canonical messages, and write them back."""
