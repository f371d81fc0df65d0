"""The checks of an examination: each looks at one thing, and yields a finding or none."""
