"""The stress test: what copies of an entry move, and the smallest attack that puts an agent first."""
