"""What the doctor found, as JSON for a bug report. What is secret is hidden."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from llama3_acceptance.doctor.advice import Advice
from llama3_acceptance.doctor.examination import Examination
from llama3_acceptance.doctor.finding import Finding
from llama3_tools import __version__

DOCTOR_VERSION = 1
"""What a report has under `llama3_tools_doctor`. It changes if something in it is renamed or goes away."""


def doctor_report(examination: Examination, findings: Sequence[Finding], advice: Advice) -> dict[str, Any]:
    """Return all that was found and all that was answered, as JSON has it.

    Args:
        examination: what the endpoint answered.
        findings: what is wrong.
        advice: what works.
    """
    hide_in = examination.secrets.hide_in
    return {
        "llama3_tools_doctor": DOCTOR_VERSION,
        "llama3_tools": __version__,
        "python": platform.python_version(),
        "base_url": examination.base_url,
        "model": examination.model,
        "is_healthy": not (any(finding.is_fault for finding in findings) or examination.unanswered),
        "findings": [hide_in(asdict(finding)) for finding in findings],
        "advice": asdict(advice),
        "answers": [hide_in(asdict(exchange)) for exchange in examination.exchanges.values()],
        "not_asked": list(examination.unanswered),
    }
