"""The lessons that platforms launched, a row for each person and link: progress, and what is to be sent."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from django.db import transaction
from django.utils import timezone

from playground.courseware import Lesson, LessonError
from playground.lessons import lookup, receipts, statements
from playground.lti.login import LaunchRefusedError
from playground.lti.platforms import Platform
from playground.lti.registrations import platform_of
from playground.models import LtiLaunch, launch_expiry
from playground.outbox.announcements import announce

CLAIM = "https://purl.imsglobal.org/spec/lti/claim/"
SERVICE = "https://purl.imsglobal.org/spec/lti-ags/claim/endpoint"
SCORE = "https://purl.imsglobal.org/spec/lti-ags/scope/score"
LINE_ITEM = "https://purl.imsglobal.org/spec/lti-ags/scope/lineitem"
LONGEST_PERSON = 255  # characters
LARGEST_SERVICE = 8_000  # characters of its JSON
MOST_BROWSERS = 10


def opened(platform: Platform, claims: Mapping[str, Any], browser: str, *, teaches: bool) -> LtiLaunch:
    """Return the row of a verified message, as it was left by its person. Raises LaunchRefusedError."""
    of = lesson_of(claims)
    person = claims.get("sub")
    if not isinstance(person, str) or not 0 < len(person) <= LONGEST_PERSON:
        raise LaunchRefusedError("The platform does not say who launches the lesson.")
    link = text(claims, f"{CLAIM}resource_link", "id")
    deployment = text(claims, f"{CLAIM}deployment_id")
    place = hashlib.sha256(json.dumps([platform.key, deployment, link, person]).encode()).hexdigest()
    service = _service(claims, platform)
    with transaction.atomic():
        row, _ = LtiLaunch.objects.select_for_update().get_or_create(
            place=place, defaults={"platform": platform.key, "person": person, "lesson": of.slug}
        )
        if row.lesson != of.slug:  # the teacher took another lesson for the link
            row.lesson, row.passed, row.handed, row.sent = of.slug, [], None, None
        row.browsers = [*(one for one in row.browsers if one != browser), browser][-MOST_BROWSERS:]
        row.service = service
        row.graded, row.teaches = bool(service) and not teaches, teaches
        row.expires = launch_expiry()
        row.save()
    return row


def lesson_of(claims: Mapping[str, Any]) -> Lesson:
    """Return the lesson that a message names: by a link that was picked here, or by its address.

    Raises LaunchRefusedError.
    """
    slug = text(claims, f"{CLAIM}custom", "lesson") or _slug_in(text(claims, f"{CLAIM}target_link_uri"))
    if not slug:
        raise LaunchRefusedError(
            "The link names no lesson. Pick one by “Select content”, or set the link's tool URL to the"
            " lesson's address, such as …/learn/first-cycle/."
        )
    try:
        found = lookup.lesson_at(slug)
    except LessonError:
        found = None
    if found is None:
        raise LaunchRefusedError(f"The lesson “{slug[:80]}” is not on this server, or no longer.")
    return found


def _slug_in(address: str) -> str:
    """Return the lesson that an address below ``/learn/`` names, "" for any other address."""
    try:
        parts = unquote(urlsplit(address).path).strip("/").split("/")
    except ValueError:
        return ""
    return parts[1] if len(parts) >= 2 and parts[0] == "learn" else ""


def _service(claims: Mapping[str, Any], platform: Platform) -> dict[str, Any]:
    """Return where scores go; {} if the platform takes none, or its address is not one of its own."""
    given = claims.get(SERVICE)
    if not isinstance(given, dict) or encoded(given) > LARGEST_SERVICE:
        return {}
    scopes = given.get("scope")
    if not isinstance(scopes, list) or SCORE not in scopes:
        return {}
    kept: dict[str, Any] = {"scope": [one for one in scopes if one in {SCORE, LINE_ITEM}]}
    kept |= {name: given[name] for name in ("lineitem", "lineitems") if platform.allows(given.get(name))}
    sends = "lineitem" in kept or ("lineitems" in kept and LINE_ITEM in kept["scope"])
    return kept if sends else {}


def text(claims: Mapping[str, Any], *path: str) -> str:
    """Return a text inside a message's claims, "" if there is none of at most 2,000 characters."""
    found: Any = claims
    for part in path:
        found = found.get(part) if isinstance(found, dict) else None
    return found if isinstance(found, str) and len(found) <= 2_000 else ""


def encoded(value: Any) -> int:
    """Return how long a claim is as JSON."""
    return len(json.dumps(value, separators=(",", ":")))


def held(name: str, browser: str) -> LtiLaunch | None:
    """Return a launch that this browser may open, None for any other."""
    row = LtiLaunch.objects.filter(pk=name).first()
    return row if row is not None and browser and browser in row.browsers else None


def passed(row: LtiLaunch, of: Lesson) -> list[str]:
    """Return the stops of a lesson that were answered right."""
    return [key for key in receipts.asked(of) if key in row.passed]


def note(name: str, of: Lesson, key: str) -> None:
    """Note a right answer; the last one completes the lesson."""
    with transaction.atomic():
        row = LtiLaunch.objects.select_for_update().filter(pk=name, lesson=of.slug).first()
        if row is None or key in row.passed or key not in receipts.asked(of):
            return
        row.passed = [*row.passed, key]
        row.expires = launch_expiry()
        if len(passed(row, of)) == len(receipts.asked(of)):
            _hand_in(row, of)
        row.save()


def hand_in(row: LtiLaunch, of: Lesson) -> None:
    """Have the score sent as it is."""
    with transaction.atomic():
        row = LtiLaunch.objects.select_for_update().get(pk=row.pk)
        _hand_in(row, of)
        row.save()


def learner(row: LtiLaunch) -> statements.StatedLearner | None:
    """Return who launched it, as the platform names them; None if that is registered no more."""
    platform = platform_of(row.platform)
    return None if platform is None else statements.StatedLearner(platform.issuer, row.person)


def deliveries() -> dict[str, int]:
    """Return how many scores wait to be sent, and how many were given up."""
    rows = LtiLaunch.objects
    given_up = rows.filter(due=None).exclude(trouble="")
    return {"waiting": rows.exclude(due=None).count(), "failed": given_up.count()}


def _hand_in(row: LtiLaunch, of: Lesson) -> None:
    row.handed = timezone.now()
    statements.completed(of, learner(row), len(passed(row, of)), len(receipts.asked(of)))
    if row.graded:
        row.due, row.tries, row.trouble = timezone.now(), 0, ""
        announce()
