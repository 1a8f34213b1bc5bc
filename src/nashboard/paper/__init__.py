"""The paper reproduced from bundled data: a file per part, and a page that compares its numbers with ours.

The numbers that the paper printed are in ``claims.csv``, with the place; our numbers are always computed.
"""
