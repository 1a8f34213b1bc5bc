"""The audit: redundant entries, decisive entries, task quality, cycles, and the quality of the data."""
