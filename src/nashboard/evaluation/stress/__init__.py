"""The stress test: the effects of copies of an entry, and the smallest attack that puts an agent first."""
