"""The hierarchical model of matches: ratings, cyclic parts of pairs, planes of rotation, and copies."""
