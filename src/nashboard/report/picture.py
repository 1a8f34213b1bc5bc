"""A chart as the page holds it: the specification without colours, its title and description as text.

The two themes are on the page once; a specification names what a mark is, and the theme says how it looks.
"""

import json
import re
from dataclasses import dataclass
from typing import Any, ClassVar

OWN_NAME = re.compile(r"\b(param|view|selector)_(\d+)\b")
NAMING = ("name", "param", "views", "expr", "test", "filter", "calculate", "signal")  # where such a name can stand
DATA = ("datasets", "values", "domain", "sort")  # where an agent's name can stand, which is never touched


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A chart of Vega-Lite, and the words that go with it.

    Parameters
    ----------
    key
        Its address within the page.
    title, subtitle
        What it shows, as text of the page: text wraps on a phone, and a title inside the drawing does not.
    description
        For people who do not see it.
    spec
        The specification as json that can stand in a page.
    choosing
        Whether it holds fields to choose from, which a screen reader must reach.
    """

    template: ClassVar[str] = "picture.html"
    key: str
    title: str
    subtitle: str
    description: str
    spec: str
    choosing: bool


def picture(chart: Any, key: str) -> Picture:
    """Return an Altair chart as the page holds it."""
    spec: dict[str, Any] = chart.to_dict(validate=False)  # our charts are valid: the tests check them
    title = spec.pop("title", "")
    said = title if isinstance(title, dict) else {"text": title}
    words = said.get("text", "")
    if isinstance(words, dict):  # it changes with what is chosen, so it stays in the drawing
        spec["title"] = {"text": words}
        words = ""
    description = str(spec.pop("description", ""))
    for idle in ("config", "$schema", "usermeta"):
        spec.pop(idle, None)
    return Picture(
        key=key,
        title=one_line(words),
        subtitle=one_line(said.get("subtitle", "")),
        description=description or one_line(words),
        spec=embedded(own_names(rounded(spec))),
        choosing=any("bind" in param and isinstance(param["bind"], dict) for param in spec.get("params", [])),
    )


def rounded(value: Any) -> Any:
    """Return the same with seven digits for every number: finer than any screen, and half the bytes."""
    if isinstance(value, float):
        return float(f"{value:.7g}")
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    return [rounded(one) for one in value] if isinstance(value, list) else value


def one_line(text: Any) -> str:
    """Return the lines of a title as one."""
    return " ".join(map(str, text)) if isinstance(text, list) else str(text)


def embedded(content: Any) -> str:
    """Return json that can stand in a script element: no text in it can end the element or open a comment."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def own_names(spec: dict[str, Any]) -> dict[str, Any]:
    """Number the names that Altair counts up through the life of a program anew: the same chart, the same bytes."""
    seen: dict[str, str] = {}

    def renamed(found: re.Match[str]) -> str:
        return seen.setdefault(found[0], f"{found[1]}_{1 + sum(name.startswith(found[1]) for name in seen)}")

    def walked(value: Any, named: bool) -> Any:
        if isinstance(value, dict):
            return {key: value[key] if key in DATA else walked(value[key], key in NAMING) for key in value}
        if isinstance(value, list):
            return [walked(one, named) for one in value]
        return OWN_NAME.sub(renamed, value) if named and isinstance(value, str) else value

    found: dict[str, Any] = walked(spec, False)
    return found
