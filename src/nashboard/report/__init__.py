"""What people see: charts, and the report."""

import lazy_loader

# Charts are imported when somebody asks for them: Altair takes longer to load than most evaluations to run.
__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, submodules=["charts"])
