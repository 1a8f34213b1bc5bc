"""The evaluation: from a table of results to a verdict."""
