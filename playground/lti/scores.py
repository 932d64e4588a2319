"""Sending scores to platforms, by the library's Assignment and Grade Services, with bounded tries.

A worker sends what is due; a visitor waits for none of it. The row says what the platform has, and why the
last try failed.
"""

from __future__ import annotations

import time
from datetime import datetime, timedelta
from typing import Any, cast

import structlog
from django.utils import timezone
from pylti1p3.assignments_grades import AssignmentsGradesService, TAssignmentsGradersData
from pylti1p3.grade import Grade
from pylti1p3.lineitem import LineItem
from pylti1p3.service_connector import ServiceConnector

from playground.courseware import Lesson
from playground.lessons import lookup, receipts
from playground.limits import limit
from playground.lti import launches
from playground.lti.launch_checks import REMEDY
from playground.lti.platforms import Platform
from playground.lti.registrations import platform_of
from playground.lti.tool import registration
from playground.models import LtiLaunch
from playground.runtime.outbound import BoundedSession

log = structlog.get_logger(__name__)

MOST = 100  # of one look
MOST_SECONDS = 40.0  # of one look: short runs wait for the process meanwhile
CLAIM_SECONDS = 180  # after which a worker that died no longer holds a score
WAIT_SECONDS = 60  # after the first failure; twice as long after each further one
LONGEST_WAIT = 6 * 3600


class _Connector(ServiceConnector):
    """Keeps a token for as long as it sends: seconds."""

    def __init__(self, platform: Platform) -> None:
        super().__init__(registration(platform), BoundedSession(platform.allows, REMEDY))
        self._token = ""

    def _get_cached_access_token(self, scope_key: str) -> str | None:
        return self._token or None

    def _cache_access_token(self, scope_key: str, access_token: str, expires_in: float) -> None:
        self._token = access_token


def deliver(now: datetime | None = None) -> int:
    """Send the scores that are due, for some seconds; return how many a platform took."""
    now = now or timezone.now()
    until, taken = time.monotonic() + MOST_SECONDS, 0
    for row in LtiLaunch.objects.filter(due__lte=now).order_by("due")[:MOST]:
        if time.monotonic() > until:
            break
        held = now + timedelta(seconds=CLAIM_SECONDS)
        if LtiLaunch.objects.filter(pk=row.pk, due=row.due).update(due=held):
            taken += _deliver(row, held)
    return taken


def _deliver(row: LtiLaunch, held: datetime) -> bool:
    """Send a score; a right answer that comes meanwhile sets ``due`` again, and stays due."""
    platform, of = platform_of(row.platform), lookup.lesson_at(row.lesson)
    mine = LtiLaunch.objects.filter(pk=row.pk, due=held)
    if platform is None or of is None:
        mine.update(due=None, trouble="The platform or the lesson is gone.")
        return False
    right = len(launches.passed(row, of))
    try:
        send(platform, row, of, right)
    except Exception as error:  # of the library, of requests, or of what a platform answered
        _failed(row, held, platform, error)
        return False
    LtiLaunch.objects.filter(pk=row.pk).update(sent=right)
    mine.update(due=None, tries=0, trouble="")
    return True


def _failed(row: LtiLaunch, held: datetime, platform: Platform, error: Exception) -> None:
    tries = row.tries + 1
    over = tries >= limit("LTI_TRIES")
    wait = min(WAIT_SECONDS * 2 ** (tries - 1), LONGEST_WAIT)
    LtiLaunch.objects.filter(pk=row.pk, due=held).update(
        due=None if over else timezone.now() + timedelta(seconds=wait),
        tries=tries,
        trouble=str(error)[:500] or type(error).__name__,
    )
    tell = log.error if over else log.warning
    tell(
        "a score was given up" if over else "a score was not taken",
        launch=row.pk,
        platform=platform.name,
        tries=tries,
        error=repr(error)[:500],
    )


def send(platform: Platform, row: LtiLaunch, of: Lesson, right: int) -> None:
    """Send how many questions a person answered right; whatever goes wrong raises."""
    service = cast(TAssignmentsGradersData, row.service)
    ags = AssignmentsGradesService(_Connector(platform), service)
    total = len(receipts.asked(of))
    grade = Grade()
    grade.set_score_given(right).set_score_maximum(total).set_user_id(row.person)
    grade.set_activity_progress("Completed").set_grading_progress("FullyGraded")
    grade.set_timestamp(timezone.now().isoformat(timespec="milliseconds"))
    ags.put_grade(grade, None if service.get("lineitem") else _line_item(of, total))


def _line_item(of: Lesson, total: int) -> LineItem:
    """Return the column of a course whose link has none of its own; it is found by its tag, or made."""
    found: Any = LineItem()
    return cast(
        LineItem,
        found.set_tag(of.slug).set_resource_id(of.slug).set_label(of.title).set_score_maximum(total),
    )
