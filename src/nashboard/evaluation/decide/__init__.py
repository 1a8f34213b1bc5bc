"""From a board to a decision: compare, plan, changes, gates, influence, voters and smaller suites."""
