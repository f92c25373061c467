"""Quality of summaries and of the memory message."""
