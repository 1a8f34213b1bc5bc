"""Settings shared by all tests."""

from hypothesis import settings

# The same examples in every run: a failure can be repeated, and a green run stays green.
settings.register_profile("nashboard", derandomize=True, deadline=None, max_examples=50)
settings.load_profile("nashboard")
