"""The begin of a launch: a platform asks for a login, and the browser is sent to it with a state and a nonce.

Nothing is stored for who only asks: the state is signed, and names the browser and the platform; the nonce is
derived from it. A launch uses both up.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from urllib.parse import urlencode

from django.core import signing
from django.utils.crypto import salted_hmac
from msgspec import Struct

from playground.lti.platforms import Platform
from playground.lti.registrations import platform_at, platforms

STATE = "podstep.lti.state"
NONCE = "podstep.lti.nonce"
STATE_SECONDS = 600
LONGEST_STATE = 600  # characters
LONGEST = 8_000  # characters of what a platform sends, all in all
SENT = (
    "iss",
    "login_hint",
    "target_link_uri",
    "lti_message_hint",
    "lti_deployment_id",
    "client_id",
)


class LaunchRefusedError(ValueError):
    """What a platform sent is not taken; the text says why, and what to do."""


class LoginState(Struct, frozen=True):
    """What a signed state says."""

    browser: str
    platform: str


def asked(given: Mapping[str, str]) -> tuple[Platform, dict[str, str]]:
    """Return the platform that asks for a login, and what it sent. Raises LaunchRefusedError."""
    sent = {name: given[name] for name in SENT if given.get(name)}
    if sum(map(len, sent.values())) > LONGEST:
        raise LaunchRefusedError("The platform sent more than a login consists of.")
    if "iss" not in sent or "login_hint" not in sent:
        raise LaunchRefusedError(
            "A learning platform opens this address, with iss and login_hint. Open the lesson from your"
            " course."
        )
    found = platform_at(sent["iss"], sent.get("client_id", ""))
    if found is not None:
        return found, sent
    if any(one.issuer == sent["iss"] for one in platforms()):
        raise LaunchRefusedError(
            f"For the platform {sent['iss'][:200]}, another client ID is registered here, or several are and "
            "it sent none. Compare the client ID with the operator's file."
        )
    raise LaunchRefusedError(
        f"The platform {sent['iss'][:200]} is not registered here. The operator of this server can do that."
    )


def address(platform: Platform, sent: Mapping[str, str], browser: str, back: str) -> str:
    """Return where the browser logs in: the platform's address, which posts the launch ``back``."""
    state = signing.dumps([browser, platform.key, secrets.token_urlsafe(9)], salt=STATE)
    query = {
        "scope": "openid",
        "response_type": "id_token",
        "response_mode": "form_post",
        "prompt": "none",
        "client_id": platform.client_id,
        "redirect_uri": back,
        "state": state,
        "nonce": nonce(state),
        "login_hint": sent["login_hint"],
    }
    if "lti_message_hint" in sent:
        query["lti_message_hint"] = sent["lti_message_hint"]
    url = platform.auth_login_url
    return f"{url}{'&' if '?' in url else '?'}{urlencode(query)}"


def nonce(state: str) -> str:
    """Return the nonce that belongs to a state."""
    return salted_hmac(NONCE, state, algorithm="sha256").hexdigest()


def read_state(text: str) -> LoginState:
    """Return what a state says. Raises LaunchRefusedError if this server did not make it, or long ago."""
    try:
        browser, platform, _ = signing.loads(text[:LONGEST_STATE], salt=STATE, max_age=STATE_SECONDS)
    except signing.SignatureExpired:
        raise LaunchRefusedError(
            f"The launch took longer than {STATE_SECONDS // 60} minutes. Open the lesson from your course"
            " again."
        ) from None
    except (signing.BadSignature, ValueError):
        raise LaunchRefusedError(
            "This server did not issue the state of the launch. Open it from your course."
        ) from None
    return LoginState(browser, platform)
