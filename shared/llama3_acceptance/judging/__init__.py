"""The judgement of one response: which calls it holds, and whether they are those that a case expects."""
