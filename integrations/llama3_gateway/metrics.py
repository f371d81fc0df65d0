"""What the gateway counts, for Prometheus."""

from __future__ import annotations

from collections import Counter as Counts
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from llama3_tools.chat import Reply

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)
"""Seconds."""
_NAMESPACE = "llama3_gateway"


@dataclass(slots=True)
class RequestRecord:
    """What happened to one request."""

    method: str
    path: str
    id: str = ""
    """What its answer's header `x-request-id` says; empty if there was no answer."""
    route: str = "none"
    """One of a few words, as metrics need them: a route's name, `pass_through` or `none`."""
    model: str | None = None
    is_stream: bool = False
    status: int = 0
    calls: int = 0
    retries: int = 0
    faults: int = 0
    rejections: Counts[str] = field(default_factory=Counts)
    """Calls that do not run, by the reason; `repeated` and `surplus` among them."""
    added: float = 0.0
    """Seconds in which the gateway itself worked, rather than waited."""
    reason: str | None = None
    """Why there is an error in place of an answer, if that is known."""
    began: float = field(default_factory=perf_counter)
    logs_content: bool = False
    """Whether the log is to have what was asked and answered."""
    content: dict[str, Any] = field(default_factory=dict)
    """What was asked and answered, if the log is to have it."""

    def count(self, reply: Reply) -> None:
        """Count the calls of an answer."""
        report = reply.report
        self.calls += len(reply.tool_calls)
        self.rejections += Counts(call.reason for call in report.refused)
        self.rejections += Counts(repeated=len(report.repeated), surplus=len(report.surplus))
        if self.logs_content:
            self.content.setdefault("replies", []).append(reply.to_openai())


class Metrics:
    """Adds up the requests."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        """What Prometheus's client writes out."""
        self.open_requests = Gauge(
            "open_requests", "Requests that are being answered.", namespace=_NAMESPACE, registry=registry
        )
        self._requests = _counter(registry, "requests", "Requests that were answered.", "route", "status")
        self._calls = _counter(registry, "tool_calls", "Calls that were sent to clients.")
        self._rejections = _counter(registry, "rejections", "Calls that were not sent to clients, by reason.", "reason")
        self._retries = _counter(registry, "retries", "How often a model was asked to write a call again.")
        self._faults = _counter(registry, "faults", "Requests that the gateway could not answer by a fault of its own.")
        self._added = Histogram(
            "added_seconds",
            "Time in which the gateway itself worked on a request.",
            namespace=_NAMESPACE,
            registry=registry,
            buckets=_BUCKETS,
        )

    def add(self, record: RequestRecord) -> None:
        """Count a request that was answered."""
        self._requests.labels(record.route, record.status).inc()
        for reason, count in record.rejections.items():
            self._rejections.labels(reason).inc(count)
        self._calls.inc(record.calls)
        self._retries.inc(record.retries)
        self._faults.inc(record.faults)
        self._added.observe(record.added)


def _counter(registry: CollectorRegistry, name: str, about: str, *labels: str) -> Counter:
    return Counter(name, about, labels, namespace=_NAMESPACE, registry=registry)
