"""Policy-space response oracles on Kuhn poker: a population grows by best responses to its own equilibrium.

Each round solves the meta-game (who beats whom on average over both seats), lets OpenSpiel find the best response to
its equilibrium, and appends it. `MetaGame` follows the equilibrium from round to round. The exploitability of the
mixture in Kuhn poker itself falls to zero.

Needs OpenSpiel: pip install open_spiel

    python examples/psro_kuhn_poker.py out/kuhn
"""

import sys
from pathlib import Path
from typing import Any

import nashboard as nb

ROUNDS = 40
SOLVED = 1e-9  # chips that a best response gains per game


def main(folder: Path) -> None:
    """Grow a population until no best response gains anything, and write its payoffs."""
    import pyspiel
    from open_spiel.python import policy as policies
    from open_spiel.python.algorithms import best_response, expected_game_score, exploitability, policy_aggregator

    kuhn = pyspiel.load_game("kuhn_poker")
    start = kuhn.new_initial_state()

    def payoff(one: Any, other: Any) -> float:
        """What one policy wins against another, the mean over both seats."""
        first = expected_game_score.policy_value(start, [one, other])[0]
        second = expected_game_score.policy_value(start, [other, one])[1]
        return float(first + second) / 2

    def mixed(weights: Any) -> Any:
        """One policy that plays each of the population with its weight."""
        aggregate = policy_aggregator.PolicyAggregator(kuhn).aggregate
        return aggregate([0, 1], [population, population], [list(weights), list(weights)])

    def best_reply(opponent: Any) -> Any:
        """A policy that answers an opponent best from both seats."""
        reply = policies.TabularPolicy(kuhn)
        for seat in (0, 1):
            best = best_response.BestResponsePolicy(kuhn, seat, opponent)
            for state in reply.states_per_player[seat]:
                chances = reply.policy_for_key(state)
                choice = best.best_response_action(state)
                chances[:] = 0.0
                chances[choice] = 1.0
        return reply

    population = [policies.TabularPolicy(kuhn)]  # plays every legal action alike
    game = nb.MetaGame()
    game.append([], "uniform")
    for number in range(1, ROUNDS + 1):
        mixture = mixed(game.weights)
        gain = exploitability.nash_conv(kuhn, mixture) / 2
        print(
            f"round {number}: {len(game)} policies, {len(game.nash.support)} with weight, "
            f"diversity {game.effective_diversity:.3f}, a best response gains {gain:.4f}"
        )
        if gain <= SOLVED:
            break
        new = best_reply(mixture)
        game.append([payoff(new, other) for other in population], f"response {number}")
        population.append(new)
    value = expected_game_score.policy_value(start, [mixture, mixture])[0]
    print(f"the first player wins {value:.4f} per game (in theory -1/18 = {-1 / 18:.4f})")
    print(f"layers: {[len(layer) for layer in game.layers()]}")
    folder.mkdir(parents=True, exist_ok=True)
    game.payoffs.write(folder / "payoffs.csv")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/kuhn"))
