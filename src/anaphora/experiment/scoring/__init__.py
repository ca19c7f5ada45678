"""How good a run is: its test parts searched, scored, and looked at in groups."""
