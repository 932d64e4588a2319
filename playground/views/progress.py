"""``/learn/progress``: what a signed-in browser has learned, and what its account knows besides."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_protect
from django.views.decorators.http import require_POST
from msgspec import Meta, Struct

from playground.accounts import lesson_progress, offered, ownership
from playground.lessons import progress
from playground.limits import limit
from playground.models import Account
from playground.serving.json_bodies import answers_json, parsed
from playground.storage.quotas import StorageFullError
from playground.visitors.throttle import address_of, wait_seconds
from scheduler_core.kubernetes.conversion import converted


class ProgressExchange(Struct, forbid_unknown_fields=True):
    """The account that a page is of, the revision that its browser has, and what it has changed since."""

    account: Annotated[str, Meta(max_length=lesson_progress.TAG)]
    revision: Annotated[int, Meta(ge=0, le=2**31 - 1)]
    progress: dict[str, Any]


def account_at(request: HttpRequest) -> Account | None:
    """Return the account that a browser is signed in to."""
    return ownership.account_of(request.visitor) if offered()["accounts"] else None  # type: ignore[attr-defined]


def _refused(status: int, message: str, wait: int = 0) -> HttpResponse:
    response = HttpResponse(
        msgspec.json.encode({"message": message}), content_type="application/json", status=status
    )
    if wait:
        response.headers["Retry-After"] = str(wait)
    return response


@answers_json
@require_POST
@never_cache
@csrf_protect
def exchange(request: HttpRequest) -> HttpResponse:
    """Add a browser's progress to its account; answer the account's if the browser has another revision."""
    account = account_at(request)
    if account is None:
        return _refused(409, "This browser is not signed in.")
    wait = wait_seconds("PROGRESS_PER_ACCOUNT", str(account.pk)) or wait_seconds(
        "PROGRESS_PER_MINUTE", address_of(request)
    )
    if wait:
        return _refused(429, f"Too many requests; try again in {wait} seconds.", wait)
    if len(request.body) > limit("PROGRESS_BYTES"):
        return _refused(413, str(progress.ProgressSizeError()))
    try:
        sent = converted(parsed(request.body), ProgressExchange)
        if sent.account != lesson_progress.tag(account):  # signed in to another one since the page was opened
            return _refused(409, "This browser is signed in to another account.")
        state = lesson_progress.added(account, progress.read(sent.progress), sent.revision)
    except progress.ProgressSizeError as error:
        return _refused(413, str(error))
    except StorageFullError as error:
        return _refused(error.status, str(error))
    except ValueError as error:
        return _refused(400, str(error)[:300])
    except Account.DoesNotExist:
        return _refused(409, "The account was deleted.")
    return HttpResponse(msgspec.json.encode(state), content_type="application/json")
