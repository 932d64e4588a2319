"""``/account/``: signing up, in and out, and what the account, or this browser without one, holds."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from functools import wraps
from typing import Any

from django import forms
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.middleware.csrf import rotate_token
from django.shortcuts import render
from django.utils.http import url_has_allowed_host_and_scheme, urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_protect, ensure_csrf_cookie
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST, require_safe
from msgspec import Struct

from playground.accounts import lesson_progress, offered, ownership
from playground.accounts import sign_up as signing
from playground.accounts.forms import NAME_RULE, ChangePassword, Confirm, SignIn, SignUp, clean_username
from playground.accounts.passwords import CrowdedError
from playground.models import Account, Comment
from playground.rooms import rows
from playground.serving.error_pages import error_page
from playground.visitors import identity
from playground.visitors.throttle import DAY, MINUTE, RETRY_SECONDS, address_of, wait_seconds

HOME = "/account/"
HOUR = 3_600  # seconds
COMMENTED_SHOWN = 20  # scenarios, those of the latest comments
NEXT_LENGTH = 2_000  # characters

#: What the page says after a redirect, by the value of ``done``.
DONE = {
    "signed-up": "The account was created, and this browser is signed in.",
    "signed-in": "This browser is signed in.",
    "signed-out": "This browser is signed out. What the account holds is still there.",
    "elsewhere": "All other browsers are signed out.",
    "password": "The password was changed, and all other browsers are signed out.",
    "deleted": "The account was deleted. What it held is in this browser alone, until it expires.",
}


class Trouble(Struct, frozen=True):
    """Why a form was refused: which one, what it says, at which field, and the answer's status."""

    form: str
    text: str
    field: str = "password"
    status: int = 422
    retry_after: int = 0


View = Callable[..., HttpResponse]


def _visitor(request: HttpRequest) -> str:
    found: str = request.visitor  # type: ignore[attr-defined]
    return found


def _form_view(view: View) -> View:
    """Decorate what a form of the page is sent to: 404 on a server without accounts."""

    @wraps(view)
    @sensitive_post_parameters()
    @never_cache
    @csrf_protect
    @require_POST
    def wrapper(request: HttpRequest) -> HttpResponse:
        if not offered()["accounts"]:
            raise Http404
        return view(request)

    return wrapper


def _next_of(request: HttpRequest) -> str:
    """Return the page of this server that a visitor wants to go on to, ``""`` for none or a foreign one."""
    asked = (request.POST if request.method == "POST" else request.GET).get("next", "")
    own = url_has_allowed_host_and_scheme(asked, {request.get_host()}, require_https=request.is_secure())
    return asked if own and asked.startswith("/") and len(asked) <= NEXT_LENGTH else ""


def _done(request: HttpRequest, visitor: str, what: str, *, onward: bool = False) -> HttpResponse:
    """Exchange the browser's cookie, and lead on."""
    request.visitor = visitor  # type: ignore[attr-defined]
    rotate_token(request)
    return HttpResponseRedirect((onward and _next_of(request)) or f"{HOME}?{urlencode({'done': what})}")


def _wait(request: HttpRequest, form: str, name: str) -> Trouble | None:
    """Count one password that is tried, of the address and of the account, whether there is one or not."""
    # Of a fixed length: names come from outside, and a cache limits its keys.
    account = hashlib.sha256(name.encode()).hexdigest()
    wait = wait_seconds("SIGN_INS_PER_MINUTE", address_of(request)) or wait_seconds(
        "SIGN_INS_PER_ACCOUNT", account
    )
    return _too_many(form, wait) if wait else None


def _too_many(form: str, wait: int) -> Trouble:
    when = f"{wait} seconds" if wait <= MINUTE else f"{math.ceil(wait / HOUR)} h"
    return Trouble(form, f"Too many attempts; try again in {when}.", "", 429, wait)


def _wrong(form: forms.Form, name: str) -> Trouble:
    """Return the first problem of a form."""
    field, errors = next(iter(form.errors.items()))
    return Trouble(name, " ".join(map(str, errors)), str(field))


def _refused(name: str, error: Exception) -> Trouble:
    if isinstance(error, CrowdedError):
        return Trouble(name, str(error), "", 503, RETRY_SECONDS)
    if isinstance(error, signing.NameTakenError):
        return Trouble(name, str(error), "username", 409)
    return Trouble(
        name, str(error), "" if isinstance(error, signing.TooManyAccountsError) else "password", 403
    )


REFUSALS = (CrowdedError, signing.NameTakenError, signing.TooManyAccountsError, signing.RefusedError)


# --- the page ------------------------------------------------------------------------------------


@require_safe
@never_cache
@ensure_csrf_cookie
def page(request: HttpRequest) -> HttpResponse:
    """Render ``account.html``; 404 on a server without accounts."""
    if not offered()["accounts"]:
        raise Http404
    return _render(request, done=DONE.get(request.GET.get("done", ""), ""))


def _render(request: HttpRequest, trouble: Trouble | None = None, done: str = "") -> HttpResponse:
    """Render the page.

    Context: ``section`` "account"; ``account`` (Account or None); ``learner`` (as on pages of lessons);
    ``deleted`` (whether the account just was); ``held`` ([{words, url}], without kinds of
    which there is nothing); ``rooms`` ([{title, url, lead_url, over, expires}]); ``commented`` ([{title,
    url}]); ``next``; ``done`` (a sentence); ``trouble`` (Trouble or None); ``name`` (that was sent);
    ``name_rule``.
    """
    visitor = _visitor(request)
    account = ownership.account_of(visitor)
    if account is not None:
        ownership.claim_rest(visitor)
    kinds = ownership.held(visitor)
    context = {
        "section": "account",
        "account": account,
        "held": [{"words": kind.words(count), "url": kind.listed} for kind, count in kinds if count]
        + _learned(account),
        "learner": lesson_progress.shown(account),
        "rooms": _rooms(visitor),
        "commented": _commented(visitor),
        "next": _next_of(request),
        "done": done,
        "deleted": done == DONE["deleted"],
        "trouble": trouble,
        "name": clean_username(request.POST.get("username", ""))[:80],
        "name_rule": NAME_RULE,
    }
    response = render(request, "account.html", context, status=trouble.status if trouble else 200)
    if trouble and trouble.retry_after:
        response.headers["Retry-After"] = str(trouble.retry_after)
    return response


def _learned(account: Account | None) -> list[dict[str, str]]:
    count = lesson_progress.lessons_of(account) if account is not None else 0
    words = f"progress in {count:,} lesson{'' if count == 1 else 's'}"
    return [{"words": words, "url": "/learn/"}] if count else []


def _rooms(visitor: str) -> list[dict[str, Any]]:
    found = rows.owned(visitor)
    return [
        {
            "title": room.title or room.scenario.title,
            "url": f"/r/{room.pk}/",
            "lead_url": f"/r/{room.pk}/#lead={rows.owner_token(room)}",
            "over": rows.is_over(room) or bool(room.scenario.withdrawn),
            "expires": room.expires,
        }
        for room in found
    ]


def _commented(visitor: str) -> list[dict[str, Any]]:
    latest = Comment.objects.filter(owner=visitor, scenario__withdrawn="").order_by("-created")
    found = dict(latest.values_list("scenario__short", "scenario__title")[: 10 * COMMENTED_SHOWN])
    return [
        {"title": title, "url": f"/s/{short}/review/"}
        for short, title in list(found.items())[:COMMENTED_SHOWN]
    ]


# --- what its forms are sent to ------------------------------------------------------------------


@_form_view
def sign_in(request: HttpRequest) -> HttpResponse:
    """Sign this browser in, and lead on to ``next``."""
    form = SignIn(request.POST)
    if not form.is_valid():
        return _render(request, _wrong(form, "sign-in"))
    name = form.cleaned_data["username"]
    if trouble := _wait(request, "sign-in", name):
        return _render(request, trouble)
    try:
        visitor = signing.sign_in(request, name, form.cleaned_data["password"], _visitor(request))
    except REFUSALS as error:
        return _render(request, _refused("sign-in", error))
    return _done(request, visitor, "signed-in", onward=True)


@_form_view
def sign_up(request: HttpRequest) -> HttpResponse:
    """Create an account, sign this browser in, and lead on to ``next``."""
    address = address_of(request)
    if wait := wait_seconds("SIGN_UPS_PER_MINUTE", address) or wait_seconds("SIGN_UPS_PER_DAY", address, DAY):
        return _render(request, _too_many("sign-up", wait))
    form = SignUp(request.POST)
    if not form.is_valid():
        return _render(request, _wrong(form, "sign-up"))
    try:
        visitor = signing.sign_up(
            form.cleaned_data["username"], form.cleaned_data["password"], _visitor(request)
        )
    except REFUSALS as error:
        return _render(request, _refused("sign-up", error))
    return _done(request, visitor, "signed-up", onward=True)


@_form_view
def sign_out(request: HttpRequest) -> HttpResponse:
    """Sign this browser out: it is a new visitor's, and copies of its cookie are worth nothing."""
    if _account(request) is None:
        return HttpResponseRedirect(HOME)  # signed out in another tab
    session = identity.session_of(request.COOKIES.get(settings.VISITOR_COOKIE, ""))
    return _done(request, signing.sign_out(_visitor(request), session), "signed-out")


@_form_view
def sign_out_elsewhere(request: HttpRequest) -> HttpResponse:
    """Sign out every other browser."""
    account = _account(request)
    if account is None:
        return HttpResponseRedirect(HOME)
    if wait := wait_seconds("SIGN_INS_PER_MINUTE", address_of(request)):
        return error_page(request, 429, f"Try again in {wait} seconds.", retry_after=wait)
    return _done(request, signing.sign_out_elsewhere(account), "elsewhere")


@_form_view
def password(request: HttpRequest) -> HttpResponse:
    """Change the password, which signs out every other browser."""
    account = _account(request)
    if account is None:
        return HttpResponseRedirect(HOME)
    form = ChangePassword(request.POST, account=account)
    if not form.is_valid():
        return _render(request, _wrong(form, "password"))
    if trouble := _wait(request, "password", account.username):
        return _render(request, trouble)
    try:
        visitor = signing.change_password(
            request, account, form.cleaned_data["password"], form.cleaned_data["new"]
        )
    except REFUSALS as error:
        return _render(request, _refused("password", error))
    return _done(request, visitor, "password")


@_form_view
def delete(request: HttpRequest) -> HttpResponse:
    """Delete the account; what it holds stays in this browser."""
    account = _account(request)
    if account is None:
        return HttpResponseRedirect(HOME)
    form = Confirm(request.POST)
    if not form.is_valid():
        return _render(request, _wrong(form, "delete"))
    if trouble := _wait(request, "delete", account.username):
        return _render(request, trouble)
    try:
        visitor = signing.delete(request, account, form.cleaned_data["password"])
    except REFUSALS as error:
        return _render(request, _refused("delete", error))
    return _done(request, visitor, "deleted")


def _account(request: HttpRequest) -> Account | None:
    return ownership.account_of(_visitor(request))
