"""Ratings that follow a log, game after game."""
