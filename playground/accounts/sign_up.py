"""Signing up, in and out, and what an account's holder may change.

Each function returns the visitor that the browser's cookie has to name from then on.
"""

from __future__ import annotations

from django.contrib.auth import authenticate
from django.contrib.auth.hashers import make_password
from django.db import IntegrityError, transaction
from django.http import HttpRequest
from django.utils import timezone

from playground.accounts import ownership, recalls
from playground.accounts.passwords import hashing
from playground.limits import limit
from playground.models import Account
from playground.storage import audit
from playground.visitors import bans, identity, sessions


class RefusedError(PermissionError):
    """Name and password do not belong together, or one of the two is unknown: the text does not say which."""

    def __init__(self, text: str = "The name or the password is wrong.") -> None:
        super().__init__(text)


class NameTakenError(ValueError):
    """There is an account of that name."""

    def __init__(self) -> None:
        super().__init__("This name is taken; choose another one.")


class TooManyAccountsError(RuntimeError):
    """There are as many accounts as there may be."""

    def __init__(self) -> None:
        super().__init__("This server takes no more accounts. Everything works without one.")


def sign_up(name: str, password: str, visitor: str) -> str:
    """Create an account and give it what the visitor holds.

    Raises NameTakenError, TooManyAccountsError and CrowdedError. The account gets a name that no cookie ever
    had: one that somebody planted or copied before is worth nothing afterwards.
    """
    if Account.objects.count() >= limit("ACCOUNTS"):
        raise TooManyAccountsError
    with hashing():  # before the transaction: in SQLite everybody would wait for it
        hashed = make_password(password)
    owner = identity.new_visitor()
    try:
        with transaction.atomic():
            account = Account.objects.create(
                username=name, password=hashed, owner=owner, last_login=timezone.now()
            )
            audit.record_visitor("sign up", name, visitor)
            ownership.claim(account, visitor)
    except IntegrityError as error:
        raise NameTakenError from error
    return owner


def _checked(request: HttpRequest, name: str, password: str) -> Account:
    """Return the account of a name and a password; takes as long if there is none. Raises RefusedError."""
    with hashing():
        found = authenticate(request, username=name, password=password)
    if not isinstance(found, Account):
        raise RefusedError
    if bans.refused(found.owner):
        raise RefusedError("The operator of this site has blocked this account.")
    return found


def sign_in(request: HttpRequest, name: str, password: str, visitor: str) -> str:
    """Give an account what the visitor holds. Raises RefusedError and CrowdedError."""
    found = _checked(request, name, password)
    with transaction.atomic():
        account = Account.objects.select_for_update().filter(pk=found.pk, password=found.password).first()
        if account is None:  # deleted, or given another password, since it was checked
            raise RefusedError
        ownership.claim(account, visitor)
        Account.objects.filter(pk=account.pk).update(last_login=timezone.now())
    return account.owner


def sign_out(visitor: str, session: str) -> str:
    """Leave an account in this browser, and end its session; what the account holds stays with it.

    A cookie that names no session, or of an account with too many ended ones, takes all browsers along.
    """
    account = ownership.account_of(visitor)
    if account is not None:
        if session and sessions.end(account, session):
            recalls.note(visitor)
        else:
            ownership.rotate(account)
    return identity.new_visitor()


def sign_out_elsewhere(account: Account) -> str:
    """Sign out every other browser."""
    with transaction.atomic():
        audit.record_visitor("sign out elsewhere", account.username, account.owner)
        ownership.rotate(account)
    return account.owner


def change_password(request: HttpRequest, account: Account, password: str, new: str) -> str:
    """Change the password, which signs out every other browser. Raises RefusedError and CrowdedError."""
    found = _checked(request, account.username, password)
    with hashing():
        found.set_password(new)
    with transaction.atomic():
        audit.record_visitor("change password", account.username, account.owner)
        found.save(update_fields=["password"])  # Django notifies SignsOutElsewhere
    return found.owner


def delete(request: HttpRequest, account: Account, password: str) -> str:
    """Delete an account; what it holds is this browser's then, without a name, and expires by its dates.

    Raises RefusedError and CrowdedError.
    """
    found = _checked(request, account.username, password)
    left = identity.new_visitor()
    with transaction.atomic():
        owner = Account.objects.select_for_update().get(pk=found.pk).owner
        audit.record_visitor("delete account", account.username, owner, ownership.holdings(owner))
        ownership.move(owner, left)
        recalls.note(owner)
        found.delete()
    return left
