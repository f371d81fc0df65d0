"""Settings for every test."""

from __future__ import annotations

from hypothesis import settings

# A shared machine's pauses are no failures. On CI, Hypothesis loads a profile of its own, the same without a database.
settings.register_profile("patient", settings.get_profile("default"), deadline=None)
if settings.get_current_profile_name() == "default":
    settings.load_profile("patient")
