"""The calls of the API as one table, from which the URLs and the OpenAPI document are generated.

The table is made of the routes that the package's modules declare (:mod:`playground.api.route`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from pkgutil import iter_modules

from django.http import HttpRequest, HttpResponseBase
from django.urls import URLPattern, path
from django.views.decorators.csrf import csrf_exempt

from playground import api
from playground.api.answers import ApiError, field_error, refusal
from playground.api.route import ROUTES, Route
from playground.calls.faults import RequestFieldError
from playground.playback.deadlines import TooMuchWorkError
from playground.playback.sources import NotFoundError
from playground.pool.process import LostError
from playground.pool.shares import BusyError
from playground.storage import bundles
from playground.storage.quotas import StorageFullError
from playground.visitors.throttle import address_of, wait_seconds
from scheduler_core.kubernetes.problems import BundleError

_READERS = ("table", "document", "payloads")  # which declare no routes
for _module in iter_modules(api.__path__):
    if _module.name not in _READERS:
        import_module(f"{api.__name__}.{_module.name}")  # registers its routes

CALLS: tuple[Route, ...] = tuple(sorted(ROUTES, key=lambda route: route.address))
"""The calls by address, as in the OpenAPI document; those of one address as their functions follow."""


@dataclass
class Endpoint:
    """The view of one URL: dispatches by method, applies rate limits, and turns errors into responses."""

    calls: dict[str, Route] = field(default_factory=dict)

    def __call__(self, request: HttpRequest, **names: str) -> HttpResponseBase:
        method = "GET" if request.method == "HEAD" else str(request.method)
        call = self.calls.get(method)
        if call is None:
            allowed = ", ".join(sorted(self.calls))
            return refusal(ApiError(405, f"Allowed methods: {allowed}.", {"Allow": allowed}))
        kind = call.rate or ("API_READS_PER_MINUTE" if method == "GET" else "API_WRITES_PER_MINUTE")
        if wait := wait_seconds(kind, address_of(request)):
            return refusal(
                ApiError(429, f"Too many requests; wait {wait} seconds.", {"Retry-After": str(wait)})
            )
        try:
            return call.operation(request, **names)
        except ApiError as error:
            return refusal(error)
        except RequestFieldError as error:
            return refusal(field_error(call.named(error.field), str(error)))
        except NotFoundError as error:
            return refusal(ApiError(404, str(error)))
        except BundleError as error:
            return refusal(ApiError(422, bundles.problems_wire(error.problems)))
        except (bundles.OutgrownError, TooMuchWorkError) as error:
            return refusal(ApiError(422, str(error)))
        except bundles.TooLargeError as error:
            return refusal(ApiError(413, str(error)))
        except LostError as error:
            return refusal(ApiError(503, str(error), {"Retry-After": "1"}))
        except StorageFullError as error:
            return refusal(ApiError(error.status, str(error), storage=error.wire))
        except BusyError as error:
            return refusal(ApiError(error.status, str(error), {"Retry-After": str(error.retry_after)}))


def urlpatterns() -> list[URLPattern]:
    """Return a URL pattern for every address of :data:`CALLS`."""
    endpoints: dict[str, Endpoint] = {}
    for call in CALLS:
        endpoints.setdefault(call.address, Endpoint()).calls[call.method] = call
    patterns = []
    for address, endpoint in endpoints.items():
        # A malformed step gets an error that explains its syntax; a malformed id is not found.
        route = address.lstrip("/").replace("{step}", "<str:step>")
        route = route.replace("{name}", "<name:name>").replace("{comment}", "<name:comment>")
        route = route.replace("{number}", "<name:number>")
        route = route.replace("{slug}", "<slug:slug>").replace("{stop}", "<slug:stop>")

        # Cookies are ignored here, so there is no request forgery to protect against.
        @csrf_exempt
        def view(request: HttpRequest, endpoint: Endpoint = endpoint, **names: str) -> HttpResponseBase:
            return endpoint(request, **names)

        patterns.append(path(route, view))
    return patterns


__all__ = ["CALLS", "Route", "urlpatterns"]
