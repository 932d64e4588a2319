"""The start page, and the import of a visitor's bundle."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from itertools import takewhile
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_protect, ensure_csrf_cookie
from django.views.decorators.http import require_POST, require_safe
from msgspec import Struct

from playground.limits import limit
from playground.models import Draft, Run
from playground.playback import sources
from playground.pool.process import LostError
from playground.pool.read_slots import reading
from playground.pool.shares import BusyError
from playground.runs import service
from playground.runtime import outage
from playground.serving.error_pages import error_page
from playground.storage import bundles, draft_names, privacy, store, texts
from playground.storage.quotas import StorageFullError
from playground.views import imports
from playground.views.stored_items import links_of
from playground.visitors.throttle import RETRY_SECONDS, address_of, throttled
from scheduler_core.authoring import examples
from scheduler_core.cli.timed_report import age
from scheduler_core.compare.again import recorded_again
from scheduler_core.formats.bundle import File
from scheduler_core.formats.folder import Folder
from scheduler_core.formats.yaml_writer import write_yaml
from scheduler_core.kubernetes.problems import BundleError, Problem
from scheduler_core.scenario import scenario as core
from scheduler_core.scenario.dump_kinds import DUMP_COMMAND

MINIATURE = "living-shop"  # the example that is played on the start page
#: The examples that it begins with; all others are behind their topics. The first one is stepped by phases
#: until whole cycles are asked for.
FIRST = (
    "first-cycle",
    "reading-the-message",
    "idle-but-full",
    "spread-over-zones",
    "node-fails",
    "zone-lost",
)
DRAFTS_SHOWN = 60  # of a visitor, the latest
LINKS_SHOWN = 12  # of a visitor, the newest
DRAFTS_AHEAD = 6  # of them, not collapsed


class Topic(Struct, frozen=True):
    """A group of examples on the start page, in the order in which a teacher would show them."""

    slug: str  # in its URL: /?topic=slug#examples
    title: str  # the `group` of its examples
    teaches: str
    link: tuple[str, str] = ("", "")  # the page with the rules: URL, name


TOPICS = (
    Topic(
        "filtering",
        "Filtering",
        "Which nodes are feasible for a pod, and how the scheduler reports that none is.",
    ),
    Topic(
        "scoring",
        "Scores and preemption",
        "Which feasible node scores best, and which pods are preempted if none is feasible.",
        ("/reference/predicates/#priorities", "the priorities"),
    ),
    Topic("clusters", "Whole clusters", "Many pods of many kinds over many cycles: find the pending one."),
    Topic(
        "controllers",
        "Controllers and failures",
        "Nodes fail or are drained, and workloads roll out: what controllers, kubelets and budgets do then.",
    ),
    Topic(
        "descheduling",
        "The descheduler",
        "Pods that are no longer where they should be: which are evicted, and whether it helped.",
        ("/reference/descheduler/", "plugins and protections"),
    ),
    Topic(
        "groups",
        "Time and PodGroups",
        "Pods that run together or not at all, on a clock that jumps from event to event.",
        ("/reference/podgroups/", "phases and timers"),
    ),
    Topic(
        "schedulers",
        "kube-batch, and several schedulers",
        "Queues that share a cluster, gangs that are bound whole, and schedulers that do not see each other.",
        ("/reference/kube-batch/", "actions and plugins"),
    ),
    Topic(
        "cache",
        "The equivalence cache",
        "Pods of one class share their predicate results, until an event makes them untrue, or should have.",
        ("/reference/cache/", "the invalidation table"),
    ),
    Topic(
        "kueue",
        "Kueue",
        "Jobs that wait for quota: which queue admits them, on which flavors, and whom it preempts for them.",
    ),
)


@require_safe
@never_cache  # so that the browser's back button shows a draft created in the meantime
@ensure_csrf_cookie
def start(request: HttpRequest) -> HttpResponse:
    """Render ``start.html``.

    Context: ``section`` "start"; ``examples`` (list of {slug, query, title, text, group, nodes, pods,
    claims}, where a claim is {modes, counts, stale}); ``topics`` (the same by group: {topic, examples});
    ``drafts`` and ``older`` (the visitor's own, latest first: {url, title, branched_at, age, updated,
    expires}); ``links`` (scenarios that the visitor has shared: {url, title, expires}); ``limits``
    {"bundleMib", "bundleBytes", "files"};
    ``miniature`` (short id of the shared scenario that is played there); after a failed import also
    ``errors`` (list of Problem as in docs/protocol.md), ``text`` and ``title`` as they were sent (``text``
    only if it is short).
    The form posts to ``/import/``: ``text``, ``files`` (several), ``title``, ``example`` (a slug), ``run``
    ("1": start a run of it), ``again`` ("1": pods that have a node are scheduled again), ``times`` ("keep"
    or "ignore", for traces), ``ticket`` (the key of its progress at ``/import/<ticket>/``).
    """
    return _render(request)


@cache
def _miniature() -> tuple[core.Scenario, str]:
    example = examples.find(MINIATURE)
    assert example is not None
    return example.load(), example.read()


def _miniature_link() -> str:
    """Return the short id of the miniature, which is shared without an owner; "" if it cannot be stored."""
    with outage.SuppressOutage():
        return store.shared_by_nobody(*_miniature()).short
    return ""


@cache
def _examples() -> list[dict[str, Any]]:
    listed = []
    for example in examples.examples():
        nodes, pods = example.counts()
        by = "phase" if example.slug == FIRST[0] else ""
        view = {"step": example.step, "tab": example.tab, "by": by}
        row = {
            "slug": example.slug,
            "query": urlencode({key: value for key, value in view.items() if value}),
            "title": example.title,
            "text": example.text,
            "group": example.group,
            "nodes": nodes,
            "pods": pods,
            "claims": [
                {"modes": _modes(claim), "counts": " · ".join(claim.counts), "stale": claim.stale}
                for claim in example.claims
            ],
        }
        listed.append(row)
    return listed


@cache
def _first() -> list[dict[str, Any]]:
    by_slug = {row["slug"]: row for row in _examples()}
    return [by_slug[slug] for slug in FIRST]


@cache
def _topics() -> list[dict[str, Any]]:
    """Return the examples by topic; assert that every example's group is a topic, as others are not shown."""
    listed = _examples()
    assert {row["group"] for row in listed} == {topic.title for topic in TOPICS}
    return [
        {"topic": topic, "examples": [row for row in listed if row["group"] == topic.title]}
        for topic in TOPICS
    ]


def _drafts(owner: str, now: datetime) -> list[dict[str, Any]]:
    """Return a visitor's drafts, latest first, with their ages and the branches made of them."""
    rows = (
        Draft.objects.filter(owner=owner)
        .order_by("-updated")
        .values("pk", "title", "updated", "expires", "branched_at", "family")
    )
    made: list[dict[str, Any]] = [
        {
            "key": f"draft:{row['pk']}",
            "family": row["family"],
            "branches": [],
            "url": f"/p/{row['pk']}/",
            "title": row["title"],
            "branched_at": row["branched_at"],
            "updated": row["updated"],
            "expires": row["expires"],
            "age": age((now - row["updated"]).total_seconds()),
        }
        for row in rows[:DRAFTS_SHOWN]
    ]
    roots = {one["key"]: one for one in made}
    for one in made:
        if one["family"] in roots:
            roots[one["family"]]["branches"].append(one)
    return [one for one in made if one["family"] not in roots]


def _links(visitor: str) -> list[dict[str, Any]]:
    """Return the scenarios that a visitor has shared, newest first."""
    rows = links_of(visitor).order_by("-created").values("short", "title", "expires")
    return [
        {"url": f"/s/{row['short']}/", "title": row["title"], "expires": row["expires"]}
        for row in rows[:LINKS_SHOWN]
    ]


def _modes(claim: examples.Claim) -> str:
    """Return a claim's modes as text; a mode with a remedy for stale writes is named by the remedy."""
    return ", ".join(mode.rpartition("/")[2].replace("none", "no remedy") for mode in claim.modes)


def _render(request: HttpRequest, status: int = 200, **more: Any) -> HttpResponse:
    drafts = _drafts(request.visitor, timezone.now())  # type: ignore[attr-defined]
    context = {
        "section": "start",
        "examples": _examples(),
        "first": _first(),
        "topics": _topics(),
        "drafts": drafts[:DRAFTS_AHEAD],
        "older": drafts[DRAFTS_AHEAD:],
        "links": _links(request.visitor),  # type: ignore[attr-defined]
        "dump_command": DUMP_COMMAND,
        "miniature": _miniature_link(),
        "limits": {
            "bundleMib": limit("BUNDLE_BYTES") // 2**20,
            "bundleBytes": limit("BUNDLE_BYTES"),
            "files": limit("UPLOAD_FILES"),
        },
        **more,
    }
    return render(request, "start.html", context, status=status)


SHORTEST_TITLE = 4
TEXT_SHOWN_AGAIN = 200_000  # characters of a paste that is sent back with its errors


@dataclass
class Import:
    """The input of the form."""

    title: str
    text: str
    files: list[File] = field(default_factory=list)
    run: bool = False
    keep: bool = False
    again: bool = False
    times: bundles.Times = "keep"


def _read(request: HttpRequest) -> Import:
    form = request.POST
    sent = Import(
        title=store.clean_title(form.get("title", "")),
        text=form.get("text", "").replace("\r\n", "\n"),  # a form always sends CRLF
        run=form.get("run") == "1",
        keep=form.get("keep") == "1",
        again=form.get("again") == "1",
        times="ignore" if form.get("times") == "ignore" else "keep",
    )
    if slug := form.get("example", ""):
        example = examples.find(slug)
        if example is None:
            raise BundleError([Problem(f"There is no example {slug[:60]!r}.")])
        sent.title, sent.files = sent.title or example.title, [("", example.read())]
        return sent
    if sent.text.strip():
        sent.files.append(("", sent.text))
    left = limit("BUNDLE_BYTES") - bundles.text_bytes(sent.text)
    for upload in request.FILES.getlist("files"):
        if upload.size and upload.size > limit("BUNDLE_BYTES"):
            raise bundles.TooLargeError(f"{upload.name} has {upload.size:,} bytes; that is too large.")
        name = str(upload.name or "")
        file = bundles.opened(name, upload.read(), max(0, left))
        left -= bundles.file_bytes(file)
        sent.files.append(file)
    if not sent.title:
        names = [file.name if isinstance(file, Folder) else file[0] for file in sent.files]
        sent.title = _title_of([name for name in names if name])
    return sent


def _title_of(names: list[str]) -> str:
    """Return the common prefix of the files' names, otherwise the stem of the first one."""
    if not names:
        return ""
    alike = takewhile(lambda letters: len(set(letters)) == 1, zip(*names, strict=False))
    common = "".join(letters[0] for letters in alike).split(".")[0].rstrip("-_ ")
    return store.clean_title(common if len(common) >= SHORTEST_TITLE else names[0].split(".")[0])


@throttled("IMPORTS_PER_MINUTE")
@csrf_protect
@require_POST
def import_bundle(request: HttpRequest) -> HttpResponse:
    """Create a draft from a paste, an upload or an example; with ``run=1`` start a run.

    Redirects to ``/p/<id>/`` or to ``/runs/<id>/``. An invalid bundle is answered with ``start.html``,
    status 422 and every error; one that is too large with 413; 503 while too many other bundles are read.
    """
    try:
        with reading(), bundles.watched(imports.watch_of(request)):
            return _import(request)
    except imports.StoppedError:
        return HttpResponse(status=409)  # the visitor stopped it and does not read the response
    except BusyError as error:
        return error_page(request, error.status, str(error), retry_after=error.retry_after)
    except LostError as error:
        return error_page(request, 503, str(error), retry_after=1)


def _import(request: HttpRequest) -> HttpResponse:
    try:
        sent = _read(request)
    except BundleError as error:
        return _refuse(request, error)
    except bundles.TooLargeError as error:
        return _render(request, 413, errors=bundles.problems_wire([Problem(str(error))]))
    try:
        bundles.parse(sent.files, sent.title, times=sent.times)
        if not sent.keep:
            sent.files, _ = privacy.private(sent.files)
        scenario = bundles.parse(sent.files, sent.title, times=sent.times)
        sent.title = sent.title or draft_names.named(scenario)
        if sent.again:
            sent.files = [("", write_yaml(list(recorded_again(scenario.documents))))]
            scenario = bundles.parse(sent.files, sent.title)
        if sent.run:
            bundles.ask_on()
            run, _ = _start_run(request, scenario, sent)
            sources.seed(run, scenario)
            return HttpResponseRedirect(f"/runs/{run.pk}/")
    except BundleError as error:
        return _refuse(request, error, sent)
    except bundles.TooLargeError as error:
        return _render(request, 413, errors=bundles.problems_wire([Problem(str(error))]), title=sent.title)
    except StorageFullError as error:
        return _no_room(request, error, sent)
    except service.TooManyRunsError as error:
        return error_page(request, 429, str(error), retry_after=RETRY_SECONDS)
    kept = sent.times == "keep"
    files = texts.stored(sent.files, scenario) if kept else [("", bundles.bundle_text(scenario))]
    bundles.ask_on()
    try:
        draft = store.create_draft(request.visitor, files, sent.title)  # type: ignore[attr-defined]
    except StorageFullError as error:
        return _no_room(request, error, sent)
    sources.seed(draft, scenario)
    return HttpResponseRedirect(f"/p/{draft.pk}/")


def _no_room(request: HttpRequest, error: StorageFullError, sent: Import) -> HttpResponse:
    """Answer with the start page, which lists what the visitor can delete."""
    text = sent.text if len(sent.text) <= TEXT_SHOWN_AGAIN else ""
    problems = bundles.problems_wire([Problem(str(error))])
    return _render(request, error.status, errors=problems, text=text, title=sent.title)


def _start_run(request: HttpRequest, scenario: core.Scenario, sent: Import) -> tuple[Run, str]:
    text = texts.joined(texts.stored(sent.files, scenario), scenario) if sent.times == "keep" else None
    visitor = request.visitor  # type: ignore[attr-defined]
    return service.known_or_started(scenario, visitor, address_of(request), text=text)


def _refuse(request: HttpRequest, error: BundleError, sent: Import | None = None) -> HttpResponse:
    text = sent.text if sent and len(sent.text) <= TEXT_SHOWN_AGAIN else ""
    title = sent.title if sent else ""
    return _render(request, 422, errors=bundles.problems_wire(error.problems), text=text, title=title)
