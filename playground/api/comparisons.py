"""Two sources side by side over HTTP: compared, and stored as a comparison with a link."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.http import HttpRequest, HttpResponse

from playground.api.answers import ApiError, answer
from playground.api.bodies import body_of
from playground.api.payloads import comparisons as payloads
from playground.api.payloads.problems import Errors
from playground.api.route import BUSY, ERRORS, FULL, route
from playground.comparisons import address, differences, snapshots
from playground.models import Comparison
from playground.protocol.comparisons import ComparisonWire, StoredComparisonWire
from playground.storage import comparisons, store
from playground.visitors import identity
from playground.visitors.throttle import RETRY_SECONDS, address_of, token_of

#: What the body of a comparison to store may have: the query of ``GET /api/compare``.
FIELDS = ("left", "right", "leftScheduler", "rightScheduler")


@contextmanager
def _refusals() -> Iterator[None]:
    """Refuse what cannot be compared."""
    try:
        yield
    except differences.UnfinishedError as error:
        raise ApiError(409, str(error)) from error


@route(
    "GET",
    "/api/compare",
    "Compare two sources: the first different decision, final placements and metrics",
    {
        200: ("The comparison", ComparisonWire),
        400: ("Invalid parameter", Errors),
        409: ("A run is not done", Errors),
        413: ("Too large", Errors),
        422: ("Too large to compute interactively; start a run of each, and compare the runs", Errors),
        **ERRORS,
        **BUSY,
    },
    query=(
        ("left", "string", "A scenario, run, link or draft: its id, or kind:id"),
        ("right", "string", "As left"),
        ("leftScheduler", "string", "v1.11 or v1.37; defaults to what the scenario specifies"),
        ("rightScheduler", "string", "As leftScheduler"),
    ),
)
def get_comparison(request: HttpRequest) -> HttpResponse:
    """Answer where two sources first decide differently, where pods end, and the metrics of both."""
    owner = identity.verify(token_of(request))  # of the drafts made over the API
    with _refusals():
        body = address.answered(request.GET.dict(), owner)
    return HttpResponse(body, content_type="application/json")


@route(
    "POST",
    "/api/comparisons",
    "Compare two sources, and store both sides and the result with a link",
    {
        201: (
            "Stored; the same sides have the same id, each share its own delete token",
            payloads.ComparisonCreated,
        ),
        400: ("Invalid field", Errors),
        409: ("A run is not done, or a draft was saved meanwhile", Errors),
        413: ("Too large", Errors),
        422: ("Too large to compute interactively; start a run of each, and compare the runs", Errors),
        **FULL,
        **ERRORS,
        **BUSY,
    },
    body=(("application/json", payloads.NewComparison),),
)
def create_comparison(request: HttpRequest) -> HttpResponse:
    """Store a comparison: whoever has its link sees both sides, drafts of the caller included."""
    body = body_of(request, payloads.NewComparison)
    query = {name: getattr(body, name) or "" for name in FIELDS}
    owner = identity.verify(token_of(request))
    with _refusals():
        try:
            shared = snapshots.share(query, owner, owner or identity.owner_at(address_of(request)))
        except store.StaleError as error:
            raise ApiError(409, str(error)) from error
        except comparisons.TooManyComparisonsError as error:
            raise ApiError(429, str(error), {"Retry-After": str(RETRY_SECONDS)}) from error
    row = shared.comparison
    made = payloads.ComparisonCreated(
        id=row.short,
        url=request.build_absolute_uri(f"/compare/{row.short}/"),
        delete_token=shared.delete_token,
        expires=row.expires.isoformat(),
    )
    return answer(made, 201, Location=f"/api/comparisons/{row.short}")


def _comparison(name: str) -> Comparison:
    row = comparisons.find(name)
    if row is None:
        raise ApiError(404, "Comparison not found; it may have been deleted.")
    return row


@route(
    "GET",
    "/api/comparisons/{name}",
    "Get a stored comparison as it was when it was made",
    {200: ("The comparison; each side is a source, and has a page", StoredComparisonWire), **ERRORS},
)
def get_stored_comparison(request: HttpRequest, name: str) -> HttpResponse:
    """Answer a stored comparison."""
    row = _comparison(name)
    url = request.build_absolute_uri(f"/compare/{row.short}/")
    about = {
        "id": row.short,
        "url": url,
        "title": row.title,
        "created": row.created.isoformat(),
        "expires": row.expires.isoformat(),
    }
    found = snapshots.wire_of(row)
    for side in comparisons.SIDES:
        found[side]["url"] = f"{url}{side}/"
    return answer({**about, **found}, Cache_Control="no-store")


@route(
    "DELETE",
    "/api/comparisons/{name}",
    "Revoke a share of a comparison; the last one deletes it",
    {
        204: ("Gone", ""),
        401: ("No delete token", Errors),
        403: ("Not a delete token of this comparison", Errors),
        **ERRORS,
    },
    token="The delete token returned when the comparison was shared",  # noqa: S106 - a description
)
def delete_comparison(request: HttpRequest, name: str) -> HttpResponse:
    """Delete the share that the delete token belongs to."""
    row, token = _comparison(name), token_of(request)
    if not token:
        raise ApiError(401, "Send the delete token as `Authorization: Bearer <token>`.")
    if not comparisons.unshare(row, token):
        raise ApiError(403, "That is not a delete token of this comparison.")
    return HttpResponse(status=204)
