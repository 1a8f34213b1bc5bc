"""The posterior behind every number of an evaluation: draws of the truth from one model, and their summary."""
