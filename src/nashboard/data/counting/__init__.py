"""From rows to counts and cells: what outcomes mean, how pairs are counted, how scores are put together."""
