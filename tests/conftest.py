"""Settings for every test."""

from __future__ import annotations

from hypothesis import settings

# A shared machine's pauses are no failures, and a test tries the same each time: what is new, the fuzzers look for.
settings.register_profile("patient", settings.get_profile("default"), deadline=None, derandomize=True, database=None)
if settings.get_current_profile_name() == "default":
    settings.load_profile("patient")
