"""The log: one line of JSON for each request, without what was asked and answered unless that is wanted."""

from __future__ import annotations

import json
import logging
import traceback
from datetime import datetime, timezone
from time import perf_counter

from llama3_gateway.metrics import RequestRecord

LOGGER = logging.getLogger("llama3_gateway")
"""All that the gateway says: requests at `INFO`, its own faults at `ERROR`."""
FIRST_IS_KEPT = "the model could not be asked again, and its first answer is kept: status %s"

_FIELDS = "llama3_gateway"


class JsonLines(logging.Formatter):
    """Formats records as lines of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Return one line: the time, the level, what happened, and its fields."""
        at = datetime.fromtimestamp(record.created, timezone.utc).isoformat(timespec="milliseconds")
        line: dict[str, object] = {"time": at, "level": record.levelname.lower(), "event": record.getMessage()}
        line.update(getattr(record, _FIELDS, {}))
        if record.exc_info:
            line["traceback"] = "".join(traceback.format_exception(*record.exc_info))
        return json.dumps(line, default=str)


def log_request(record: RequestRecord) -> None:
    """Log a request that was answered."""
    fields: dict[str, object] = {
        "id": record.id,
        "method": record.method,
        "path": record.path,
        "route": record.route,
        "model": record.model,
        "stream": record.is_stream,
        "status": record.status,
        "calls": record.calls,
        "rejections": dict(record.rejections),
        "retries": record.retries,
        "faults": record.faults,
        "seconds": round(perf_counter() - record.began, 6),
        "added_seconds": round(record.added, 6),
        **({"reason": record.reason} if record.reason else {}),
        **record.content,
    }
    LOGGER.info("request", extra={_FIELDS: fields})


def log_fault(what: str, error: BaseException, record: RequestRecord) -> None:
    """Log a fault of the gateway's own: what was done about it, and where it came from.

    Of the error only the type is logged, as its message may quote a model.
    """
    record.faults += 1
    places = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(error.__traceback__)]
    fields = {"path": record.path, "error": type(error).__name__, "places": places[-8:]}
    LOGGER.error(what, extra={_FIELDS: fields})
