"""One lazy table type, and what is done with tables: columns, values, filters, unions, exact sums."""
