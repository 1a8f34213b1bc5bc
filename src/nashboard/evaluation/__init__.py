"""What it means: from a table to a verdict that a person can trust."""
