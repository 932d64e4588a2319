"""Lessons that visitors write, in the database: their files, what of them is published, and who sees what."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import structlog
from django.db import transaction
from django.utils import timezone
from django.utils.crypto import constant_time_compare, salted_hmac

from playground.limits import limit
from playground.models import AuthoredLesson, Scenario, Share, lesson_expiry, new_lesson_id
from playground.storage import audit, bundles, quotas, store, withdrawals
from playground.visitors import caller
from scheduler_core.scenario import scenario as core

log = structlog.get_logger(__name__)

Files = Mapping[str, str]
ID = 16  # characters of an id
_MAC = 24  # characters of the proof that a preview's address was given to the author
_SALT = "podstep.lessons.preview"


class TooManyLessonsError(RuntimeError):
    """The visitor has as many lessons as allowed."""

    def __init__(self) -> None:
        super().__init__(f"You have {limit('LESSONS_PER_OWNER'):,} lessons of your own; delete one first.")


def create(owner: str, files: Files, folder: str, title: str) -> AuthoredLesson:
    """Store a lesson. Raises TooManyLessonsError, TooLargeError and StorageFullError."""
    if AuthoredLesson.objects.filter(owner=owner).count() >= limit("LESSONS_PER_OWNER"):
        raise TooManyLessonsError
    row = AuthoredLesson(
        owner=owner, address=caller.address(), folder=folder[:60], title=store.clean_title(title)
    )
    row.files = _packed(files)
    row.packed = len(row.files)
    quotas.check(owner, row.address, row.packed + quotas.ROW_BYTES)
    row.save(force_insert=True)
    return row


def _packed(files: Files) -> bytes:
    size = sum(len(text.encode(errors="surrogatepass")) for text in files.values())
    if size > limit("LESSON_BYTES"):
        raise bundles.TooLargeError(
            f"The lesson has {size:,} bytes; a lesson may have {limit('LESSON_BYTES'):,}."
        )
    return bundles.pack(json.dumps(dict(files)).encode())


def lessons_of(owner: str) -> list[AuthoredLesson]:
    """Return a visitor's lessons without their files, last changed first."""
    rows = AuthoredLesson.objects.filter(owner=owner).defer("files", "published").order_by("-updated")
    return list(rows[: limit("LESSONS_PER_OWNER")]) if owner else []


def find(name: str, owner: str) -> AuthoredLesson | None:
    """Return an owner's lesson; None if there is none or it has another owner."""
    if not owner or not store.is_id(name):
        return None
    row = AuthoredLesson.objects.filter(pk=name[:32], owner=owner).defer("published").first()
    if row is not None:
        store.opened(row, lesson_expiry())
    return row


def files_of(row: AuthoredLesson) -> dict[str, str]:
    """Return a lesson's files as its author has them."""
    return dict(json.loads(bundles.unpack(row.files)))


def published_files(row: AuthoredLesson) -> dict[str, str]:
    """Return a lesson's files as they are published."""
    assert row.published is not None
    return dict(json.loads(bundles.unpack(row.published)))


def change(row: AuthoredLesson, alter: Callable[[dict[str, str]], Files], title: str = "") -> AuthoredLesson:
    """Replace a lesson's files by what ``alter`` makes of the newest; return the updated row.

    Raises what ``alter`` does, TooLargeError, StorageFullError and AuthoredLesson.DoesNotExist.
    """
    with transaction.atomic():
        newest = AuthoredLesson.objects.select_for_update().get(pk=row.pk, owner=row.owner)
        before = files_of(newest)
        after = dict(alter(before))
        if after == before:
            return newest
        newest.files = _packed(after)
        newest.revision += 1
        newest.title = store.clean_title(title) or newest.title
        _save(newest)
    return newest


def _save(row: AuthoredLesson) -> None:
    before, row.packed = row.packed, len(row.files) + len(row.published or b"")
    quotas.check(row.owner, row.address, row.packed - before)
    row.updated, row.expires = timezone.now(), lesson_expiry()
    row.save()


def rename(row: AuthoredLesson, title: str) -> None:
    """Keep what ``lesson.yaml`` calls the lesson, for lists."""
    row.title = store.clean_title(title)
    AuthoredLesson.objects.filter(pk=row.pk).update(title=row.title)


def publish(row: AuthoredLesson, revision: int) -> AuthoredLesson | None:
    """Publish a revision that is sound; None if the lesson has changed since. Raises StorageFullError."""
    with transaction.atomic():
        newest = AuthoredLesson.objects.select_for_update().get(pk=row.pk, owner=row.owner)
        if newest.revision != revision:
            return None
        newest.published, newest.published_revision = bytes(newest.files), revision
        _save(newest)
    return newest


def withdraw(row: AuthoredLesson) -> AuthoredLesson:
    """Take back a lesson's address: what is published later has another one."""
    with transaction.atomic():
        newest = AuthoredLesson.objects.select_for_update().get(pk=row.pk, owner=row.owner)
        newest.published, newest.published_revision, newest.link = None, 0, new_lesson_id()
        _forget_shares(newest)
        _save(newest)
        audit.record_visitor("withdraw lesson", newest.pk, newest.owner)
        withdrawals.note()
    return newest


def delete(row: AuthoredLesson) -> None:
    """Delete a lesson, its address, and its scenarios unless somebody shares them otherwise."""
    with transaction.atomic():
        _forget_shares(row)
        AuthoredLesson.objects.filter(pk=row.pk, owner=row.owner).delete()
        audit.record_visitor("delete lesson", row.pk, row.owner)
        withdrawals.note()
    log.info("a lesson was deleted", lesson=row.pk)


def _forget_shares(row: AuthoredLesson) -> None:
    shares = Share.objects.filter(lesson=row)
    scenarios = list(Scenario.objects.filter(shares__in=shares).only("pk").distinct())
    shares.delete()
    for scenario in scenarios:
        store.forget_unreferenced(scenario)


# --- addresses


def preview_address(row: AuthoredLesson) -> str:
    """Return the address at which an author plays a lesson as it is now; nobody can guess it."""
    return f"{row.pk}{_mac(row.pk)}"


def _mac(name: str) -> str:
    return salted_hmac(_SALT, name).hexdigest()[:_MAC]


def at(address: str) -> tuple[AuthoredLesson, bool] | None:
    """Return the lesson that is played at an address, without its files, and whether it is a preview."""
    if not store.is_id(address):
        return None
    rows = AuthoredLesson.objects.defer("files", "published")
    preview = len(address) == ID + _MAC
    if preview:
        name = address[:ID]
        found = constant_time_compare(address[ID:], _mac(name))
        row = rows.filter(pk=name).first() if found else None
    else:
        row = rows.filter(link=address, published_revision__gt=0).first() if len(address) == ID else None
    if row is None:
        return None
    store.opened(row, lesson_expiry())
    return row, preview


def shared(row: AuthoredLesson, scenario: core.Scenario, text: str) -> Scenario:
    """Return the row of a lesson's scenario; let its learners see it on first use, on the author's account.

    Raises StorageFullError.
    """
    digest = store.address_of(scenario.title, text)
    known = Share.objects.filter(lesson=row, scenario__digest=digest).select_related("scenario")
    share = known.defer("scenario__content", "scenario__text").first()
    if share is not None:
        store.check_withdrawn(share.scenario)
        store.opened(share.scenario, lesson_expiry())
        return share.scenario
    made = store.share(scenario, row.owner, text=text, exact=True, lesson=row)
    return made.scenario


def wire(row: AuthoredLesson) -> dict[str, Any]:
    """Return a lesson as lists have it."""
    return {
        "id": row.pk,
        "title": row.title,
        "url": f"/learn/author/{row.pk}/",
        "revision": row.revision,
        "link": f"/learn/{row.link}/" if row.published_revision else None,
        "published": row.published_revision,
    }
