"""Who predicts best: Elo and multidimensional Elo (mElo), by maximum likelihood and online."""
