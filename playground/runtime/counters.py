"""The metrics of a process; :mod:`playground.serving.metrics` collects and exposes them."""

from __future__ import annotations

from collections import Counter as Counts

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client import disable_created_metrics as without_times_of_creation

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

#: Open WebSocket connections of this process by address; the consumer counts them.
SOCKETS: Counts[str] = Counts()

without_times_of_creation()  # type: ignore[no-untyped-call]
REGISTRY = CollectorRegistry()
ProcessCollector(registry=REGISTRY)
#: HTTP requests that read a bundle, or wait to, in their own thread.
READING = Gauge("podstep_reading", "HTTP requests that read a bundle, or wait to", registry=REGISTRY)
COMMAND_SECONDS = Histogram(
    "podstep_command_seconds",
    "From a WebSocket command's arrival to its answer",
    ["command"],
    buckets=BUCKETS,
    registry=REGISTRY,
)
COMMAND_ERRORS = Counter(
    "podstep_command_errors",
    "WebSocket commands answered with an error",
    ["command", "code"],
    registry=REGISTRY,
)
REQUESTS = Counter(
    "podstep_http_requests", "HTTP requests by the class of their status", ["status"], registry=REGISTRY
)
