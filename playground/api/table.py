"""The calls of the API as one table, from which the URLs and the OpenAPI document are generated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from django.http import HttpRequest, HttpResponseBase
from django.urls import URLPattern, path
from django.views.decorators.csrf import csrf_exempt

from playground.api import calls, comments, comparing, drafts, finding, links, making, rooms, worth
from playground.api.answers import ApiError, refusal
from playground.playback.stopping import TooMuchWorkError
from playground.pool.process import LostError
from playground.pool.shares import BusyError
from playground.storage import bundles
from playground.storage.quotas import StorageFullError
from playground.visitors.throttle import address_of, wait_seconds
from scheduler_core.objects.problems import BundleError

Handler = Callable[..., HttpResponseBase]


@dataclass(frozen=True, slots=True)
class Route:
    """One method of one URL. ``answers`` maps a status to (meaning, schema or media type)."""

    method: str
    address: str  # OpenAPI path template, {name} for a parameter
    operation: Handler
    summary: str
    answers: dict[int, tuple[str, str]]
    query: tuple[tuple[str, str, str], ...] = ()  # name, JSON type, meaning
    body: tuple[tuple[str, str], ...] = ()  # media type, schema
    token: str = ""  # a description of the bearer token, if the call needs one
    matched: bool = False  # whether If-Match may name the revision


_ERRORS = {
    404: ("There is no such thing", "Errors"),
    410: ("Taken down by the operator; the error says why", "Errors"),
    429: ("Too many requests; see Retry-After", "Errors"),
}
_BUSY = {503: ("Too many bundles are being read, or no database answers; see Retry-After", "Errors")}
_SAME = {304: ("The scenario of If-None-Match, which is still shared", "")}
_CONDITIONS = (
    ("condition", "string", "As docs/protocol.md has it at cycle.find, as in node:n3; up to 20 of them"),
    ("from", "integer", "The cycle to begin after, or before on the way back; 0: the start"),
    ("direction", "string", "forward or backward"),
    ("to", "integer", "The last cycle to look at"),
    ("met", "string", "A quirk, or a workload whose ties, that counts no more; up to 20 of them"),
)
_FOUND = {200: ("The cycle, and why", "Found"), 400: ("A parameter is wrong", "Errors"), **_ERRORS, **_BUSY}
_FULL = {
    413: ("Too large, or `storage`: the owner or address has stored all it may, see the errors", "Errors"),
    507: ("The server has stored all it may; see `storage`", "Errors"),
}
_UNREAD = {
    400: ("The body cannot be read", "Errors"),
    422: ("The bundle has errors: all of them, with line and path", "Errors"),
    **_FULL,
    429: _ERRORS[429],
    **_BUSY,
}
_TITLE = (("title", "string", "Title, where the body is the bundle itself"),)
_OWNER = "The token that making a draft gave; a browser's own is the value of its cookie podstep_visitor"
_STALE = {412: ("The draft is no longer in the revision of If-Match; ETag has the newest", "Errors")}
_OWN = {401: ("No token of ours", "Errors"), **_ERRORS}
_COMMENTER = "The edit token of the comment, or, to resolve or remove it, a delete token of the scenario"
_NO_BODY = {400: ("The body cannot be read", "Errors")}
_TEXT = (
    ("text/plain", "Text"),
    ("application/yaml", "Text"),
    ("application/json", "NewScenario"),
    ("application/gzip", "Packed"),
    ("application/zip", "Packed"),
    ("multipart/form-data", "Form"),
)

CALLS: tuple[Route, ...] = (
    Route(
        "POST",
        "/api/scenarios",
        calls.create_scenario,
        "Store a bundle as an immutable scenario with a link",
        {
            201: ("Stored; the same content has the same id, each share its own delete token", "Created"),
            **_UNREAD,
        },
        query=_TITLE,
        body=_TEXT,
    ),
    Route(
        "GET",
        "/api/generate",
        making.get_generator,
        "What a recipe of a cluster can hold, and recipes to begin with",
        {200: ("The fields, each with its default; recipes", "Generator"), 429: _ERRORS[429]},
    ),
    Route(
        "POST",
        "/api/generate",
        making.generate_cluster,
        "Make a cluster by rule from a recipe: the same recipe, the same cluster",
        {
            200: ("The bundle, and what it comes to", "Generated"),
            400: ("The body cannot be read", "Errors"),
            422: ("The recipe has errors: all of them, each with its field as path", "Errors"),
            413: ("Too large", "Errors"),
            429: _ERRORS[429],
            **_BUSY,
        },
        body=(("application/json", "Recipe"),),
    ),
    Route(
        "GET",
        "/api/scenarios/{name}",
        calls.get_scenario,
        "What a scenario holds",
        {200: ("The scenario with its documents", "Scenario"), **_SAME, **_ERRORS},
    ),
    Route(
        "DELETE",
        "/api/scenarios/{name}",
        calls.delete_scenario,
        "Take back a share; the scenario goes with the last one",
        {
            204: ("Gone", ""),
            401: ("No delete token", "Errors"),
            403: ("Not a delete token of this scenario", "Errors"),
            **_ERRORS,
        },
        token="The delete token that sharing gave",  # noqa: S106 - a description
    ),
    Route(
        "GET",
        "/api/scenarios/{name}/bundle",
        calls.get_bundle,
        "A scenario's documents as YAML",
        {200: ("The bundle", "application/yaml"), **_SAME, **_ERRORS, **_BUSY},
    ),
    Route(
        "GET",
        "/api/scenarios/{name}/cycles",
        calls.list_cycles,
        "Consecutive cycles of the trace",
        {
            200: ("Cycles; fewer at the end", "Cycles"),
            400: ("A parameter is wrong", "Errors"),
            422: ("Too large to compute while you wait: start a run", "Errors"),
            **_ERRORS,
            **_BUSY,
        },
        query=(("from", "integer", "First cycle, from 1"), ("count", "integer", "How many, at most 100")),
    ),
    Route(
        "GET",
        "/api/scenarios/{name}/cycles/{step}",
        calls.get_cycle,
        "One cycle by its number or its step major.minor",
        {
            200: ("The cycle", "Cycle"),
            400: ("The step is no address", "Errors"),
            422: ("Too large to compute while you wait: start a run", "Errors"),
            **_ERRORS,
            **_BUSY,
        },
    ),
    Route(
        "GET",
        "/api/scenarios/{name}/cycles/{step}/why",
        calls.get_why,
        "Why a pod is where it is after a step, or is not on a node, and what would make it fit",
        {
            200: ("The reasons, and changes that were tried out, the smallest first", "Why"),
            400: ("A parameter is wrong", "Errors"),
            422: ("Too large to compute while you wait", "Errors"),
            **_ERRORS,
            **_BUSY,
        },
        query=(
            ("pod", "string", "The pod, namespace/name"),
            ("node", "string", "The node; all nodes are asked about without it"),
        ),
    ),
    Route(
        "GET",
        "/api/scenarios/{name}/find",
        finding.find_in_scenario,
        "The next cycle, or the one before, of which a condition holds, as that a predicate fails",
        {**_FOUND, 422: ("Too large to compute while you wait: start a run", "Errors")},
        query=_CONDITIONS,
    ),
    Route(
        "GET",
        "/api/scenarios/{name}/costs",
        worth.get_costs,
        "What no cache, the scenario's own, the sound one and batching evaluate, keep and take",
        {
            200: ("A row a strategy, the first without a cache", "Costs"),
            422: ("Too large to compute while you wait", "Errors"),
            **_ERRORS,
            **_BUSY,
        },
    ),
    Route(
        "GET",
        "/api/scenarios/{name}/divergence",
        worth.get_divergence,
        "Where the scenario first decides otherwise under another mode of the equivalence cache",
        {
            200: ("Both runs and the first cycle that ends otherwise", "Divergence"),
            400: ("A parameter is wrong", "Errors"),
            422: ("Too large to compute while you wait", "Errors"),
            **_ERRORS,
            **_BUSY,
        },
        query=(
            ("cache", "string", "The other mode: off, designed, v1.11, sound or batching"),
            ("equivalenceClass", "string", "controller or attributes; the scenario's own without it"),
            ("staleWrites", "string", "none, isUpToDate or generations; the scenario's own without it"),
            ("audit", "string", "false checks no hit; it changes no decision"),
        ),
    ),
    Route(
        "POST",
        "/api/drafts",
        drafts.create_draft,
        "Make a draft of a bundle; sent with the token of another draft, of the same owner",
        {
            201: ("Made; keep the token, with it the owner's drafts are read and changed", "NewDraft"),
            401: ("Not a token of ours", "Errors"),
            **_UNREAD,
        },
        query=_TITLE,
        body=_TEXT,
    ),
    Route(
        "GET",
        "/api/drafts",
        drafts.list_drafts,
        "The owner's drafts, the last changed first",
        {200: ("Drafts without their texts", "Drafts"), 401: _OWN[401], 429: _ERRORS[429]},
        token=_OWNER,
    ),
    Route(
        "GET",
        "/api/drafts/{name}",
        drafts.get_draft,
        "A draft with its text as it was last saved",
        {200: ("The draft", "Draft"), 422: ("Several files that cannot be one", "Errors"), **_OWN, **_BUSY},
        token=_OWNER,
    ),
    Route(
        "PATCH",
        "/api/drafts/{name}",
        drafts.change_draft,
        "Replace a draft's text, be it readable or not, its title or both",
        {
            200: ("Saved; of a new text with what is wrong with it", "Draft"),
            400: ("The body cannot be read", "Errors"),
            **_FULL,
            **_STALE,
            **_OWN,
            **_BUSY,
        },
        body=(("application/json", "DraftChange"),),
        token=_OWNER,
        matched=True,
    ),
    Route(
        "POST",
        "/api/drafts/{name}/share",
        drafts.share_draft,
        "Store a draft, as it stands, as an immutable scenario with a link",
        {
            201: ("Stored, as POST /api/scenarios does", "Created"),
            422: ("The draft has errors: all of them, with line and path", "Errors"),
            **_FULL,
            **_STALE,
            **_OWN,
            **_BUSY,
        },
        token=_OWNER,
        matched=True,
    ),
    Route(
        "DELETE",
        "/api/drafts/{name}",
        drafts.delete_draft,
        "Delete a draft for good",
        {204: ("Gone", ""), **_STALE, **_OWN},
        token=_OWNER,
        matched=True,
    ),
    Route(
        "POST",
        "/api/runs",
        calls.create_run,
        "Start a long run in a worker",
        {
            201: ("Queued; keep the cancel token", "Run"),
            400: ("The body cannot be read", "Errors"),
            413: ("Too large", "Errors"),
            422: ("The policy has errors", "Errors"),
            **_FULL,
            **_ERRORS,
            **_BUSY,
        },
        body=(("application/json", "NewRun"),),
    ),
    Route(
        "GET",
        "/api/runs/{name}",
        calls.get_run,
        "How a run stands",
        {200: ("The run", "Run"), **_ERRORS},
    ),
    Route(
        "POST",
        "/api/runs/{name}/cancel",
        calls.cancel_run,
        "Cancel a run",
        {
            200: ("The run; a running one stops after its slice", "Run"),
            403: ("Not yours", "Errors"),
            **_ERRORS,
        },
        token="The cancel token that starting the run gave",  # noqa: S106 - a description
    ),
    Route(
        "GET",
        "/api/runs/{name}/cycles/{step}",
        calls.get_run_cycle,
        "One cycle of a run by its number or its step",
        {200: ("The cycle", "Cycle"), 400: ("The step is no address", "Errors"), **_ERRORS, **_BUSY},
    ),
    Route(
        "GET",
        "/api/runs/{name}/find",
        finding.find_in_run,
        "The same in the cycles of a run that are stored",
        _FOUND,
        query=_CONDITIONS,
    ),
    Route(
        "GET",
        "/api/runs/{name}/trace.jsonl.zst",
        calls.get_run_trace,
        "The whole trace of a finished run, a cycle a line",
        {
            200: ("JSON Lines, zstd", "application/zstd"),
            409: ("The run is not finished", "Errors"),
            413: ("Too many cycles", "Errors"),
            **_ERRORS,
            **_BUSY,
        },
    ),
    Route(
        "GET",
        "/api/compare",
        comparing.get_comparison,
        "Two sources side by side: where they first decide differently, where pods end, metrics",
        {
            200: ("The comparison", "Comparison"),
            400: ("A parameter is wrong", "Errors"),
            409: ("A run is not done", "Errors"),
            413: ("Too large", "Errors"),
            422: ("Too large to compute while you wait: start a run of each, and compare these", "Errors"),
            **_ERRORS,
            **_BUSY,
        },
        query=(
            ("left", "string", "A scenario, run, link or draft: its id, or kind:id"),
            ("right", "string", "The same"),
            ("leftScheduler", "string", "v1.11; what the scenario says without it"),
            ("rightScheduler", "string", "The same"),
        ),
    ),
    Route(
        "GET",
        "/api/links/{name}",
        links.get_link,
        "What a private link shows, and both outcomes where the engine decides otherwise by now",
        {
            200: ("The link", "Link"),
            422: ("Too large to compute while you wait", "Errors"),
            **_ERRORS,
            **_BUSY,
        },
    ),
    Route(
        "GET",
        "/api/scenarios/{name}/comments",
        comments.list_comments,
        "A scenario's threads of comments, oldest first",
        {200: ("The threads", "Threads"), **_ERRORS},
    ),
    Route(
        "POST",
        "/api/scenarios/{name}/comments",
        comments.create_comment,
        "Comment on a step, and within it on a node, a pod or a rule, or answer a comment",
        {
            201: ("Stored; keep the edit token", "NewComment"),
            409: ("The scenario has as many comments as it may", "Errors"),
            **_NO_BODY,
            **_FULL,
            **_ERRORS,
            **_BUSY,
        },
        body=(("application/json", "CommentRequest"),),
    ),
    Route(
        "PATCH",
        "/api/scenarios/{name}/comments/{comment}",
        comments.change_comment,
        "Replace the text of a comment, or resolve its thread",
        {
            200: ("The comment", "Comment"),
            401: ("No token", "Errors"),
            403: ("Not a token that may do this", "Errors"),
            **_NO_BODY,
            **_ERRORS,
        },
        body=(("application/json", "CommentChange"),),
        token=_COMMENTER,
    ),
    Route(
        "DELETE",
        "/api/scenarios/{name}/comments/{comment}",
        comments.delete_comment,
        "Remove a comment; answers to it stay",
        {
            204: ("Gone", ""),
            401: ("No token", "Errors"),
            403: ("Not a token that may do this", "Errors"),
            **_ERRORS,
        },
        token=_COMMENTER,
    ),
    Route(
        "POST",
        "/api/rooms",
        rooms.create_room,
        "Open a room, in which viewers follow a leader through a scenario",
        {
            201: ("Open; keep the lead token, whoever has it leads and ends the room", "NewRoom"),
            **_NO_BODY,
            **_ERRORS,
        },
        body=(("application/json", "RoomRequest"),),
    ),
    Route(
        "GET",
        "/api/rooms/{name}",
        rooms.get_room,
        "Where a room is, and how many watch",
        {200: ("The room", "Room"), **_ERRORS},
    ),
    Route(
        "POST",
        "/api/rooms/{name}/end",
        rooms.end_room,
        "End a room",
        {
            200: ("The room, which is over", "Room"),
            403: ("Not the token that leads it", "Errors"),
            **_NO_BODY,
            **_ERRORS,
        },
        body=(("application/json", "RoomEnd"),),
    ),
)


@dataclass
class Endpoint:
    """The view of one URL: dispatches by method, applies rate limits, and turns errors into responses."""

    calls: dict[str, Route] = field(default_factory=dict)

    def __call__(self, request: HttpRequest, **names: str) -> HttpResponseBase:
        method = "GET" if request.method == "HEAD" else str(request.method)
        call = self.calls.get(method)
        if call is None:
            allowed = ", ".join(sorted(self.calls))
            return refusal(ApiError(405, f"This address answers {allowed}.", {"Allow": allowed}))
        kind = "API_READS_PER_MINUTE" if method == "GET" else "API_WRITES_PER_MINUTE"
        if wait := wait_seconds(kind, address_of(request)):
            return refusal(
                ApiError(429, f"Too many requests; wait {wait} seconds.", {"Retry-After": str(wait)})
            )
        try:
            return call.operation(request, **names)
        except ApiError as error:
            return refusal(error)
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
            return refusal(ApiError(503, str(error), {"Retry-After": str(error.retry_after)}))


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

        # Cookies are ignored here, so there is no request forgery to protect against.
        @csrf_exempt
        def view(request: HttpRequest, endpoint: Endpoint = endpoint, **names: str) -> HttpResponseBase:
            return endpoint(request, **names)

        patterns.append(path(route, view))
    return patterns


__all__ = ["CALLS", "Route", "urlpatterns"]
