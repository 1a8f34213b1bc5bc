"""One file per command. A command reads, calls the library and shows a table; it computes nothing."""
