"""Every way to rank, a file each: a file that is added here is imported, and so registers its method."""

from importlib import import_module
from pkgutil import iter_modules


def import_methods() -> None:
    """Import every file of this folder."""
    for file in iter_modules(__path__):
        import_module(f"{__name__}.{file.name}")
