"""The platforms that are registered on this server."""

from __future__ import annotations

from django.conf import settings

from playground.lti.platforms import Platform


def platforms() -> tuple[Platform, ...]:
    """Return the registered platforms; without any, nothing of LTI is served."""
    found: tuple[Platform, ...] = settings.LTI_PLATFORMS
    return found


def platform_of(key: str) -> Platform | None:
    """Return the platform that a row names, None if it is registered no more."""
    return next((one for one in platforms() if one.key == key), None)


def platform_at(issuer: str, client_id: str) -> Platform | None:
    """Return a platform by issuer and client; an issuer with one client is found without its id."""
    found = [one for one in platforms() if one.issuer == issuer and client_id in {"", one.client_id}]
    return found[0] if len(found) == 1 else None
