"""Print the lowest supported version of every dependency, as constraints for pip."""

import re
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
for requirement in project["dependencies"]:
    name, lowest = re.fullmatch(r"([\w-]+)>=([\d.]+).*", requirement).groups()
    print(f"{name}=={lowest}.*" if lowest.count(".") < 2 else f"{name}=={lowest}")
print("click<8.2")  # as old as the lowest typer
