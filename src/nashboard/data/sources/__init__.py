"""Where data is: paths of this machine, addresses of object stores and databases, data frames, Python objects."""
