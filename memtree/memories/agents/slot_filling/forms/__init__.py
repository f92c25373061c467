"""The forms of statements that rules read: what each says, whatever the schemas are."""
