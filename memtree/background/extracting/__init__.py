"""Extract memories from conversations in the background, after the answer has begun."""
