"""Stage 2: embeddings of leaves, made in the background."""
