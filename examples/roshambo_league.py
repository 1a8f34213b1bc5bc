"""A self-play league: bots play repeated rock-paper-scissors, one of them learns, online mElo follows the league.

    python examples/roshambo_league.py [FOLDER]

Each season (1) all play all; mElo and Elo predict every match, then learn from it; (2) the Nash mixture of what mElo
has learnt is the team to beat; (3) the learner trains against opponents drawn from it; (4) a frozen copy of it joins.
"""

import itertools
import random
import sys
from pathlib import Path

from roshambo_bots import BOTS, Learner, match

import nashboard as nb


def main(folder: str | Path = "out/roshambo_league", seasons: int = 5) -> None:
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    rng, learner = random.Random(0), Learner()
    bots = dict(BOTS)
    # Steps shrink as games are played: ratings settle, and the planes of a decided league do not run away.
    league, ladder = nb.OnlineMelo(k=2, cyclic_rate=0.5, decay=100, rng=0), nb.OnlineElo(decay=100)
    for season in range(1, seasons + 1):
        right, decided = [0, 0], 0
        for a, b in list(itertools.combinations(bots, 2)) * 6:
            outcome = match(bots[a], bots[b], rng)[0]
            if outcome != 0.5:
                decided += 1
                for k, model in enumerate((league, ladder)):  # predict first, then learn
                    right[k] += (model.predict(a, b) > 0.5) == (outcome > 0.5)
            for model in (league, ladder):
                model.update(a, b, outcome)
        nash = nb.nash_average(league.ratings())
        team = {agent: weight for agent, weight in zip(nash.agents, nash.weights, strict=True) if weight > 0.01}
        shares = [f"{share / decided:.0%}" for share in right]
        print(f"season {season}: of {decided} decided matches mElo foretold {shares[0]}, Elo {shares[1]}")
        print("  to beat: " + ", ".join(f"{agent} {weight:.0%}" for agent, weight in team.items()))
        for opponent in rng.choices(list(team), list(team.values()), k=60):
            learner.train(bots[opponent], rng)
        bots[f"learner {season}"] = Learner(dict(learner.values))
    league.save(folder / "league.npz")
    print(league.ratings())


if __name__ == "__main__":
    main(*sys.argv[1:2])
