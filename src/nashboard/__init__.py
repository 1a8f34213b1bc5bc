"""Leaderboards that cannot be moved by entering the same agent or task twice.

The public names are listed in ``__init__.pyi`` and imported when they are first used (SPEC 1), so that
``import nashboard`` costs next to nothing.
"""

import lazy_loader

from nashboard._version import __version__ as __version__

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
