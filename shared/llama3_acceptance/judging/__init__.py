"""The judgement of one response: which calls it contains, and whether they are those that a case expects."""
