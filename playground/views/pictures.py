"""What other sites show of a link: the preview card, oEmbed, and QR codes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable, Mapping
from functools import lru_cache
from html import escape
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from playground.models import Scenario
from playground.pictures import card, qr
from playground.pictures.scene import Scene, scene_of
from playground.pictures.themes import DARK, THEMES
from playground.playback import sources
from playground.playback.deadlines import TooMuchWorkError
from playground.playback.playback import OutOfRangeError
from playground.playback.veil import CYCLE
from playground.pool.process import LostError
from playground.pool.read_slots import reading
from playground.pool.shares import BusyError
from playground.serving.error_pages import error_page
from playground.serving.json_bodies import answers_json
from playground.serving.lan import origin_for_others
from playground.storage import bundles, links, store
from playground.visitors.throttle import throttled
from scheduler_core.kubernetes.problems import BundleError

PICTURES = 200  # kept in memory
PICTURE_BYTES = 16 * 2**20
RELEASES_KEPT = 10_000  # of scenarios: a name each
QUERY = 1_500  # characters of an address's query that are passed on
EMBED_WIDTH, EMBED_HEIGHT = 960, 600
LEAST_WIDTH, LEAST_HEIGHT = 280, 200
#: Of the frame: some consumers drop styles, and read ``frameborder``. Only the clipboard and full screen are
#: delegated, and the Referer names the embedding site without its path.
FRAME_ATTRIBUTES = (
    'frameborder="0" style="border:0" loading="lazy" allow="clipboard-write; fullscreen" allowfullscreen '
    'referrerpolicy="strict-origin-when-cross-origin"'
)
INSIDE = ("phase", "at")  # of a query: a place inside a step, whose outcome it does not tell
VEIL = ("veil", "upto")  # of a query: what is shown at most
EMBED_VIEWS = ("stage", "matrix", "story")


class Pictures:
    """The pictures that were drawn last. It is thread-safe."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, bytes] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> bytes | None:
        """Return a picture, ``None`` if it is not kept."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def put(self, key: Hashable, picture: bytes) -> None:
        """Keep a picture in place of those that nobody asked for the longest."""
        with self._lock:
            self._bytes += len(picture) - len(self._kept.pop(key, b""))
            self._kept[key] = picture
            while len(self._kept) > PICTURES or self._bytes > PICTURE_BYTES:
                self._bytes -= len(self._kept.popitem(last=False)[1])


pictures = Pictures()


# --- the card ------------------------------------------------------------------------------------


@require_safe
@throttled("API_READS_PER_MINUTE")
def scenario_card(request: HttpRequest, short: str) -> HttpResponse:
    """Answer the preview card of a shared scenario at ``step``, dark unless ``theme`` is light."""
    row = store.find_scenario(short)
    if row is None:
        raise Http404
    return _card(request, sources.Source({"scenario": short}, row), row.title)


@require_safe
@throttled("API_READS_PER_MINUTE")
def link_card(request: HttpRequest, name: str) -> HttpResponse:
    """Answer the preview card of a private link, at the step that it was made of."""
    link = links.find_link(name)
    if link is None:
        raise Http404
    asked = request.GET.dict() if request.GET.get("step") else dict(parse_qsl(link.query))
    return _card(request, sources.Source({"link": name}, link.scenario), link.title, asked)


def _card(
    request: HttpRequest, source: sources.Source, title: str, asked: Mapping[str, str] | None = None
) -> HttpResponse:
    row = source.row
    assert isinstance(row, Scenario)
    asked = request.GET.dict() if asked is None else asked
    place = _place(asked)
    theme = THEMES.get(asked.get("theme", ""), DARK)
    key = (row.digest, place, title, theme.name)
    picture = pictures.get(key)
    if picture is None:
        try:
            with reading():
                scene = _scene(source, row, title, place)
                picture = card.png(card.card(scene, theme))
        except BusyError as error:
            return error_page(request, error.status, str(error), retry_after=error.retry_after)
        except LostError as error:
            return error_page(request, 503, str(error), retry_after=5)
        pictures.put(key, picture)
    headers = {"Cache-Control": "public, max-age=300", "X-Robots-Tag": "noindex"}
    return HttpResponse(picture, content_type="image/png", headers=headers)


class CardPlace(NamedTuple):
    """A step, and whether it is drawn before its decision; ``veil`` is the last cycle that is shown, if any.

    Of that cycle no more than a phase is shown if ``within``; how many follow is then left out.
    """

    step: str
    undecided: bool
    veil: int | None
    within: bool


def _place(asked: Mapping[str, str]) -> CardPlace:
    veil = asked.get("veil", "")
    return CardPlace(
        asked.get("step", "")[:24],
        any(asked.get(name) for name in INSIDE),
        int(veil) if CYCLE.fullmatch(veil) else None,
        bool(asked.get("upto")),
    )


def _scene(source: sources.Source, row: Scenario, title: str, place: CardPlace) -> Scene:
    """Return what is drawn; of what is too large to compute while one waits the title and the counts."""
    step = place.step
    try:
        playback = sources.open_playback(source)
        sources.check_work(playback.scenario)
        try:
            index = playback.seek(step) if step else 0
        except ValueError:  # no address of a step
            index = 0
        index, undecided = len(playback) if index is None else index, place.undecided and index is not None
        if place.veil is None:
            return scene_of(playback, index, title, undecided=undecided)
        if index >= place.veil:
            index, undecided = place.veil, place.within or (undecided and index == place.veil)
        return scene_of(playback, index, title, undecided=undecided, counted=False)
    except (BundleError, bundles.TooLargeError, OutOfRangeError, TooMuchWorkError):
        facts = (f"{row.nodes:,} nodes", f"{row.pods:,} pods")
        return Scene(title or "Untitled", f"Step {step}" if step.isdigit() else "", facts=facts)


# --- oEmbed --------------------------------------------------------------------------------------


@answers_json
@require_safe
@throttled("API_READS_PER_MINUTE")
def oembed(request: HttpRequest) -> HttpResponse:
    """Answer oEmbed 1.0 for the address of a shared scenario; only JSON, as ``format`` may say."""
    if request.GET.get("format", "json") != "json":
        return JsonResponse({"error": "Only format=json is answered."}, status=501)
    try:
        asked = urlsplit(request.GET.get("url", "")[: 2 * QUERY])
    except ValueError as error:
        message = f"url is not a URL ({error}); write the address of a shared scenario."
        return JsonResponse({"error": message}, status=400)
    parts = asked.path.strip("/").split("/")
    own = (asked.scheme, asked.netloc) == (request.scheme, request.get_host())
    row = store.find_scenario(parts[1]) if own and len(parts) == 2 and parts[0] in {"s", "e"} else None
    if row is None:
        return JsonResponse({"error": "There is no shared scenario at that url."}, status=404)
    query = urlencode(parse_qsl(asked.query[:QUERY]))
    width = _bounded(request, "maxwidth", LEAST_WIDTH, EMBED_WIDTH)
    height = _bounded(request, "maxheight", LEAST_HEIGHT, EMBED_HEIGHT)
    source = request.build_absolute_uri(f"/e/{row.short}/{f'?{query}' if query else ''}")
    title = row.title or "Untitled"
    body = {
        "version": "1.0",
        "type": "rich",
        "provider_name": "podstep",
        "provider_url": request.build_absolute_uri("/"),
        "title": title,
        "html": f'<iframe src="{escape(source)}" title="{escape(title)}" width="{width}" height="{height}" '
        f"{FRAME_ATTRIBUTES}></iframe>",
        "width": width,
        "height": height,
        "thumbnail_url": request.build_absolute_uri(card_address(f"/s/{row.short}/", asked.query)),
        "thumbnail_width": card.WIDTH,
        "thumbnail_height": card.HEIGHT,
        "cache_age": 3_600,
    }
    return JsonResponse(body, headers={"Access-Control-Allow-Origin": "*"})


def _bounded(request: HttpRequest, name: str, least: int, most: int) -> int:
    given = request.GET.get(name, "")
    return (
        max(least, min(most, int(given))) if given.isascii() and given.isdigit() and len(given) < 6 else most
    )


def card_address(page: str, query: str) -> str:
    """Return the path of a page's card, at the place of its query: a step, or a place inside it."""
    asked = dict(parse_qsl(query[:QUERY]))
    place = {name: asked[name][:24] for name in ("step", *INSIDE, *VEIL) if asked.get(name)}
    return f"{page}card.png?{urlencode(place)}" if "step" in place else f"{page}card.png"


@lru_cache(RELEASES_KEPT)
def _release_of(digest: str) -> str:
    source = sources.Source({}, Scenario.objects.get(digest=digest))
    try:
        return "" if sources.is_large(source) else source.load().release
    except (BundleError, bundles.TooLargeError):
        return ""


def release_of(row: Scenario) -> str:
    """Return the release that answers a scenario, "" of one that takes long to read; it never changes."""
    return _release_of(row.digest)


def preview(request: HttpRequest, page: str, title: str, release: str = "") -> dict[str, str]:
    """Return a page's metadata for link previews: ``title``, ``url``, ``image``, and ``oembed`` or "".

    The title names the ``release`` that answers the scenario, if that is known.
    """
    query = request.META.get("QUERY_STRING", "")[:QUERY]
    url = request.build_absolute_uri(f"{page}{f'?{query}' if query else ''}")
    shared = page.startswith("/s/")
    return {
        "title": f"{title or 'Untitled'}{f' (kube-scheduler {release})' if release else ''}",
        "url": url,
        "image": request.build_absolute_uri(card_address(page, query)),
        "oembed": request.build_absolute_uri(f"/oembed?{urlencode({'url': url})}") if shared else "",
    }


# --- QR codes ------------------------------------------------------------------------------------


@require_safe
@throttled("API_READS_PER_MINUTE")
def qr_code(request: HttpRequest) -> HttpResponse:
    """Answer the QR code of an address of this server, whose ``path`` with its query is given."""
    path = request.GET.get("path", "")
    try:
        # A browser takes "//" and "/\\" for another host's, and leaves tabs and line ends out before.
        if not path.startswith("/") or path.startswith(("//", "/\\")) or not path.isprintable():
            raise ValueError("path must be a path of this server, such as /r/…/.")
        picture = qr.qr((origin_for_others(request) or request.build_absolute_uri("/")[:-1]) + path)
    except ValueError as error:
        return error_page(request, 400, str(error))
    headers = {"Cache-Control": "public, max-age=86400"}
    return HttpResponse(picture, content_type="image/svg+xml", headers=headers)
