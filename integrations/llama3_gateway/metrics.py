"""What the gateway counts, in the form that Prometheus reads."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from llama3_tools.chat import Reply

__all__ = ["Metrics", "RequestRecord"]

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)
"""Seconds."""
_PREFIX = "llama3_gateway"


@dataclass(slots=True)
class RequestRecord:
    """What became of one request."""

    method: str
    path: str
    route: str = "none"
    """One of a few words, as metrics need them: a route's name, `pass_through` or `none`."""
    model: str | None = None
    is_stream: bool = False
    status: int = 0
    calls: int = 0
    retries: int = 0
    faults: int = 0
    rejections: Counter[str] = field(default_factory=Counter)
    """Calls that do not run, by the reason; `repeated` and `surplus` among them."""
    added: float = 0.0
    """Seconds in which the gateway itself worked, rather than waited."""
    reason: str | None = None
    """Why there is an error in place of an answer, where that is known."""
    began: float = field(default_factory=perf_counter)
    logs_content: bool = False
    """Whether the log is to have what was asked and answered."""
    content: dict[str, Any] = field(default_factory=dict)
    """What was asked and answered, if the log is to have it."""

    def count(self, reply: Reply) -> None:
        """Count the calls of an answer."""
        report = reply.report
        self.calls += len(reply.tool_calls)
        self.rejections.update(call.reason for call in report.refused)
        self.rejections.update({"repeated": len(report.repeated), "surplus": len(report.surplus)})
        if self.logs_content:
            self.content.setdefault("replies", []).append(reply.to_openai())


class Metrics:
    """Adds up the requests.

    >>> metrics = Metrics()
    >>> metrics.add(RequestRecord("POST", "/v1/chat/completions", "chat", status=200, calls=2))
    >>> [line for line in metrics.text().splitlines() if line.startswith("llama3_gateway_tool_calls_total")]
    ['llama3_gateway_tool_calls_total 2']
    """

    def __init__(self) -> None:
        """Begin with nothing."""
        self.open_requests = 0
        """Requests that are being answered."""
        self._requests = Counter[tuple[str, int]]()
        self._rejections = Counter[str]()
        self._calls = self._retries = self._faults = 0
        self._buckets = [0] * (len(_BUCKETS) + 1)
        self._added = 0.0

    def add(self, record: RequestRecord) -> None:
        """Count a request that was answered."""
        self._requests[record.route, record.status] += 1
        self._rejections.update(record.rejections)
        self._calls += record.calls
        self._retries += record.retries
        self._faults += record.faults
        self._buckets[bisect_left(_BUCKETS, record.added)] += 1
        self._added += record.added

    def text(self) -> str:
        """Return all counts in Prometheus's text format."""
        requests = [
            f'{_PREFIX}_requests_total{{route="{route}",status="{status}"}} {count}'
            for (route, status), count in sorted(self._requests.items())
        ]
        rejections = [
            f'{_PREFIX}_rejections_total{{reason="{reason}"}} {count}'
            for reason, count in sorted(self._rejections.items())
            if count
        ]
        total = sum(self._buckets)
        bounds = [str(bound) for bound in _BUCKETS] + ["+Inf"]
        buckets = [
            f'{_PREFIX}_added_seconds_bucket{{le="{bound}"}} {sum(self._buckets[: place + 1])}'
            for place, bound in enumerate(bounds)
        ]
        return "\n".join(
            [
                *_head("requests_total", "counter", "Requests that were answered."),
                *requests,
                *_head("open_requests", "gauge", "Requests that are being answered."),
                f"{_PREFIX}_open_requests {self.open_requests}",
                *_head("tool_calls_total", "counter", "Calls that were handed to clients."),
                f"{_PREFIX}_tool_calls_total {self._calls}",
                *_head("rejections_total", "counter", "Calls that were not handed out, by reason."),
                *rejections,
                *_head("retries_total", "counter", "How often a model was asked to write a call again."),
                f"{_PREFIX}_retries_total {self._retries}",
                *_head("faults_total", "counter", "Replies that could not be read, and passed as they were."),
                f"{_PREFIX}_faults_total {self._faults}",
                *_head("added_seconds", "histogram", "Time in which the gateway itself worked on a request."),
                *buckets,
                f"{_PREFIX}_added_seconds_sum {self._added:.6f}",
                f"{_PREFIX}_added_seconds_count {total}",
                "",
            ]
        )


def _head(name: str, kind: str, about: str) -> tuple[str, str]:
    return f"# HELP {_PREFIX}_{name} {about}", f"# TYPE {_PREFIX}_{name} {kind}"
