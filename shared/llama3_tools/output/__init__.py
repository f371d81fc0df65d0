"""A whole output: its segments in order, what became of each and why, and what other options would call."""
