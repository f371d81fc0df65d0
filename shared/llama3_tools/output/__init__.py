"""What a whole output holds: its segments in order, and the words that stand outside of calls and quotation."""
