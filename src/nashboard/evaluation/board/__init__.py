"""The board: every number of every agent and task, and the columns that show them."""
