"""From a board to a decision: compare, plan, changes, influence, voters and smaller suites."""
