"""A whole output: its segments in order, what happened to each and why, and what other options would call."""
