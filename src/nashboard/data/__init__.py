"""What comes in: the data types, the readers for files and frames, and the bundled data sets."""
