"""Where names go in a scatter plot: beside their points, without covering each other.

Names that find no free place are left to the tooltip, the ones that matter least first.
"""

from collections.abc import Sequence
from typing import NamedTuple

from nashboard._text import shortened
from nashboard._types import Floats

CHARACTER, LINE = 6.4, 13  # pixels of a character and of a line at 11 points: generous, since fonts differ
MOST = 26  # characters of a name in a plot


class Label(NamedTuple):
    """A name and where it is written: at the left, right, above or below its point; nothing where it has no place."""

    text: str
    align: str
    dx: float
    dy: float


class Box(NamedTuple):
    """A rectangle in pixels."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: "Box") -> bool:
        """Say whether two rectangles overlap."""
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )


NOTHING = Label("", "left", 0.0, 0.0)


def placed(
    names: Sequence[str], x: Floats, y: Floats, order: Sequence[int], *, size: tuple[float, float]
) -> list[Label]:
    """Return a label per name; ``x`` and ``y`` are pixels in a plot of that size, ``order`` the most important first.

    A point is an obstacle for the names of others; so are names that were placed before.
    """
    points = [Box(a - 4, b - 4, a + 4, b + 4) for a, b in zip(x, y, strict=True)]
    taken: list[Box] = []
    found = [NOTHING] * len(names)
    for k in order:
        text = shortened(names[k], MOST)
        width = CHARACTER * len(text)
        ways = (("left", 10.0, 0.0), ("right", -10.0, 0.0), ("center", 0.0, -13.0), ("center", 0.0, 14.0))
        for align, dx, dy in ways if x[k] < 0.6 * size[0] else (ways[1], ways[0], *ways[2:]):
            left = x[k] + dx - {"left": 0.0, "right": width, "center": width / 2}[align]
            box = Box(left, y[k] + dy - LINE / 2, left + width, y[k] + dy + LINE / 2)
            inside = box.left > 0 and box.right < size[0] + 60 and box.top > -5 and box.bottom < size[1] + 5
            free = not any(box.meets(other) for other in taken)
            clear = not any(box.meets(point) for j, point in enumerate(points) if j != k)
            if inside and free and clear:
                taken.append(box)
                found[k] = Label(text, align, dx, dy)
                break
    return found
