"""Ways to rank, side by side: one registry, one input type, one result type."""
