"""A run as scores and reports, and two runs compared."""
