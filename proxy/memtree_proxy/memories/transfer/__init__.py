"""Export and import memories as files."""
