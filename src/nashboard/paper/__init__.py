"""The paper reproduced from bundled data: a file per part, and the page that sets its numbers beside ours.

What the paper printed stands in ``claims.csv``, with the place; what we find is computed, always.
"""
