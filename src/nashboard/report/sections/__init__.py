"""The sections of a report, one file each: what was found, in words and tables."""
