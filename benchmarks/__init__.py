"""Speed beside peers: both sides of every work in one run, on one machine, in turn."""
