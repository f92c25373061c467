"""Days that messages name: lines and marks."""
