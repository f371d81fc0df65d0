"""Text that is shown, written and gathered: invisible characters, JSON, text that grows."""
