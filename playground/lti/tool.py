"""This server as a tool: its registrations in the library's form, and its key set."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from django.conf import settings
from jwcrypto.jwk import JWK
from pylti1p3.registration import Registration
from pylti1p3.tool_config.dict import ToolConfDict

from playground.lti.platforms import Platform
from playground.lti.registrations import platforms


def tool() -> ToolConfDict:
    """Return all registrations."""
    return _tool(platforms(), settings.LTI_KEY)


def registration(platform: Platform) -> Registration:
    """Return a platform's registration."""
    found: Registration = tool().find_registration_by_params(platform.issuer, platform.client_id)
    return found


def key_set() -> dict[str, Any]:
    """Return the public keys that platforms check signatures of this server by."""
    return {"keys": [Registration.get_jwk(_public(settings.LTI_KEY))]}


@lru_cache(maxsize=4)
def _tool(registered: tuple[Platform, ...], key: str) -> ToolConfDict:
    rows: dict[str, list[Any]] = {}
    for one in registered:
        rows.setdefault(one.issuer, []).append(
            {
                "client_id": one.client_id,
                "auth_login_url": one.auth_login_url,
                "auth_token_url": one.auth_token_url,
                "auth_audience": one.auth_audience or None,
                "key_set_url": one.key_set_url,
                "deployment_ids": list(one.deployment_ids),
            }
        )
    made = ToolConfDict(rows)  # type: ignore[arg-type]  # of which its TypedDict knows one form
    for one in registered:
        made.set_private_key(one.issuer, key, one.client_id)
        made.set_public_key(one.issuer, _public(key), one.client_id)
    return made


@lru_cache(maxsize=4)
def _public(key: str) -> str:
    pem: bytes = JWK.from_pem(key.encode()).export_to_pem()
    return pem.decode("ascii")
