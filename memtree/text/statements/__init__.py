"""Read what a message states of its writer: who, what, value, polarity, days."""
