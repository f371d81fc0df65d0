"""The incremental machine, and what becomes of the text around calls."""
