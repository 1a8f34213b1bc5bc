"""The board: its numbers, its columns, and the sentences of the verdict."""
