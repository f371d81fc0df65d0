"""Suites out of their files: tools, cases, and the place of whatever is wrong."""
