"""Every way to rank, one file each: all files of this folder are imported, which registers their methods."""

from importlib import import_module
from pkgutil import iter_modules


def import_methods() -> None:
    """Import every file of this folder."""
    for file in iter_modules(__path__):
        import_module(f"{__name__}.{file.name}")
