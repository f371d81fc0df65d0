"""Tells whether a model calls your tools well enough: suites of commands, and the judgement of each response."""
