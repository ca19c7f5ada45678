"""A corpus looked at before hours are spent on it: counts, faults named by line, repeats, words never shown."""
