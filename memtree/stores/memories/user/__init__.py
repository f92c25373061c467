"""What user memories ask of a store beyond saving, reading and deleting."""
