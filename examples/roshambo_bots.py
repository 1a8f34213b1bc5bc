"""Repeated rock-paper-scissors, and bots that play it: predictors, imitators, a biased one, and one that learns."""

import random
from collections import Counter, defaultdict
from collections.abc import Callable
from itertools import pairwise

THROWS = 150  # per match
MARGIN = 12  # a match is a draw unless somebody is this many throws ahead: luck alone is about that much
History = list[tuple[int, int]]  # (mine, theirs); 0 rock, 1 paper, 2 scissors: k + 1 beats k
Bot = Callable[[History, random.Random], int]


def rocky(history: History, rng: random.Random) -> int:
    """Mostly rock."""
    return 0 if rng.random() < 0.6 else rng.randrange(3)


def rotate(history: History, rng: random.Random) -> int:
    """Rock, paper, scissors, and again."""
    return len(history) % 3


def copycat(history: History, rng: random.Random) -> int:
    """What the other just played."""
    return history[-1][1] if history else rng.randrange(3)


def beat_last(history: History, rng: random.Random) -> int:
    """What would have beaten the other's last throw."""
    return (history[-1][1] + 1) % 3 if history else rng.randrange(3)


def frequency(history: History, rng: random.Random) -> int:
    """What beats the other's favourite."""
    seen = Counter(theirs for _, theirs in history)
    return (seen.most_common(1)[0][0] + 1) % 3 if seen else rng.randrange(3)


def markov(history: History, rng: random.Random) -> int:
    """What beats the throw that followed the other's last throw most often."""
    after = Counter(b for (_, a), (_, b) in pairwise(history) if a == history[-1][1])
    return (after.most_common(1)[0][0] + 1) % 3 if after else rng.randrange(3)


def second_guess(history: History, rng: random.Random) -> int:
    """What beats a bot that counts my throws."""
    mine = Counter(own for own, _ in history)
    return (mine.most_common(1)[0][0] + 2) % 3 if mine else rng.randrange(3)


def chance(history: History, rng: random.Random) -> int:
    """Anything: nobody beats it, and it beats nobody."""
    return rng.randrange(3)


class Learner:
    """Learns what to play after each pair of throws, by the mean reward so far; frozen copies only play."""

    def __init__(self, values: dict[tuple[object, int], tuple[float, int]] | None = None) -> None:
        self.values = defaultdict(lambda: (0.0, 0), values or {})
        self.explore = 0.0

    def __call__(self, history: History, rng: random.Random) -> int:
        if len(history) < 2 or rng.random() < max(self.explore, 0.05):  # a little chance: never quite predictable
            return rng.randrange(3)
        return max(range(3), key=lambda k: (self.values[history[-2:][0], history[-1], k][0], rng.random()))

    def train(self, other: Bot, rng: random.Random) -> None:
        """Play one match and remember what paid."""
        self.explore = 0.3
        played = match(self, other, rng)[1]
        for one, two, (mine, theirs) in zip(played, played[1:], played[2:], strict=False):
            mean, n = self.values[one, two, mine]
            reward = (0, 1, -1)[(mine - theirs) % 3]
            self.values[one, two, mine] = mean + (reward - mean) / (n + 1), n + 1
        self.explore = 0.0


def match(a: Bot, b: Bot, rng: random.Random) -> tuple[float, History]:
    """Return the outcome for a (1, 0.5 or 0) and what it saw."""
    seen_a: History = []
    seen_b: History = []
    for _ in range(THROWS):
        x, y = a(seen_a, rng), b(seen_b, rng)
        seen_a.append((x, y))
        seen_b.append((y, x))
    ahead = sum((0, 1, -1)[(x - y) % 3] for x, y in seen_a)
    return (0.5 if abs(ahead) < MARGIN else float(ahead > 0)), seen_a


BOTS: dict[str, Bot] = {
    bot.__name__: bot for bot in (rocky, rotate, copycat, beat_last, frequency, markov, second_guess, chance)
}
