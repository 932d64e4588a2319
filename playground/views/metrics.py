"""``/metrics`` for Prometheus, for authorized clients only."""

from __future__ import annotations

import ipaddress
import secrets
from collections.abc import Callable, Iterator
from typing import Any

import structlog
from django.conf import settings
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.metrics_core import GaugeMetricFamily, Metric

from playground.celery import app
from playground.limits import limit
from playground.lti import launches
from playground.models import STATES, Run, Worker
from playground.outbox import statements
from playground.serving import metrics
from playground.storage import quotas
from playground.visitors.throttle import token_of

log = structlog.get_logger(__name__)

BROKER_SECONDS = 2.0  # timeout for a broker that does not answer
#: How the names of headers begin that proxies set: the peer is then not the client.
FORWARDED = (
    *("forwarded", "via", "x-forwarded", "x-original-", "x-real-ip", "x-client-ip", "x-cluster-client-ip"),
    *("x-proxyuser-ip", "x-envoy-", "x-amzn-", "x-azure-", "x-cloud-trace-context"),
    *("client-ip", "true-client-ip", "fastly-client-ip", "cf-", "cdn-loop", "proxy-"),
)
REFUSAL = "Metrics are for this machine, PLAYGROUND_METRICS_ALLOW, and the token PLAYGROUND_METRICS_TOKEN.\n"


def may_read(request: HttpRequest) -> bool:
    """Return whether a request has the token, or comes directly from an allowed address.

    Behind a proxy every visitor has the proxy's address, and its headers can be forged by anyone: then only
    the token counts.
    """
    token = settings.METRICS_TOKEN
    if token and secrets.compare_digest(token_of(request).encode(), token.encode()):
        return True
    if settings.PLAYGROUND["TRUSTED_PROXIES"] or any(map(_is_forwarded, request.headers)):
        return False
    try:
        peer = ipaddress.ip_address(request.META.get("REMOTE_ADDR", ""))
    except ValueError:
        return False
    return any(peer in ipaddress.ip_network(network, strict=False) for network in settings.METRICS_ALLOW)


def _is_forwarded(header: str) -> bool:
    return header.lower().startswith(FORWARDED)


@require_safe
def exposition(request: HttpRequest) -> HttpResponse:
    """Answer the metrics of all web processes and of the server, in the text format 0.0.4."""
    if not may_read(request):
        return HttpResponse(REFUSAL, status=403, content_type="text/plain; charset=utf-8")
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Everything())
    headers = {"Cache-Control": "no-store"}
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_PLAIN_0_0_4, headers=headers)


class _Everything:
    def collect(self) -> Iterator[Metric]:
        yield from metrics.all_families()
        yield from _part("database", _stored)
        yield from _part("broker", _queues)


def _part(name: str, ask: Callable[[], list[Metric]]) -> Iterator[Metric]:
    """Yield the metrics of a part of the server, and whether it answered."""
    try:
        found, up = ask(), 1
    except Exception as error:
        log.warning("a part did not answer for metrics", part=name, error=repr(error))
        found, up = [], 0
    yield GaugeMetricFamily(f"podstep_{name}_up", f"Whether the {name} answers", value=up)
    yield from found


def _gauge(name: str, text: str, label: str, values: dict[str, Any]) -> Metric:
    family = GaugeMetricFamily(name, text, labels=[label])
    for key, value in values.items():
        family.add_metric([key], value)
    return family


def _deliveries() -> Metric:
    family = GaugeMetricFamily(
        "podstep_deliveries", "Messages to other servers, by kind and state", labels=["kind", "state"]
    )
    for state, count in launches.deliveries().items():
        family.add_metric(["score", state], count)
    family.add_metric(["statement", "waiting"], statements.waiting())
    return family


def _stored() -> list[Metric]:
    counted = dict(Run.objects.order_by().values_list("state").annotate(Count("pk")))
    states = {state: counted.get(state, 0) for state in STATES}
    stored = {"used": quotas.used_in_total(), "allowed": limit("STORAGE_TOTAL")}
    return [
        _gauge("podstep_runs", "Runs by state", "state", states),
        _gauge("podstep_stored_bytes", "Stored drafts, links and runs, compressed", "kind", stored),
        _deliveries(),
        GaugeMetricFamily("podstep_workers", "Workers alive", value=Worker.alive().count()),
    ]


def _queues() -> list[Metric]:
    with app.connection_for_write(connect_timeout=BROKER_SECONDS) as broker:
        broker.ensure_connection(max_retries=1, timeout=BROKER_SECONDS, interval_start=0.1)
        channel = broker.default_channel
        # A queue that was never used is unknown to the broker, and counts as empty.
        lengths = {name: channel._size(name) for name in app.amqp.queues}  # noqa: SLF001 - as kombu does
    return [_gauge("podstep_queue_messages", "Messages not yet taken by a worker", "queue", lengths)]
