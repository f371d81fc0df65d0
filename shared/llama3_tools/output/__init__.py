"""What a whole output holds: its segments in order, what other options would call, and the words outside of calls."""
