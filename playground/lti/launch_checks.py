"""A launch, verified: the library's checks, with stricter ones where it takes too much.

The library takes a message that it saw before, one without an end of validity, and any nonce that it handed
out. Here a state is used once, and only in the browser that got it; the nonce belongs to it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, cast

import jwt
from django.core.cache import cache
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from pylti1p3.cookie import CookieService
from pylti1p3.exception import LtiException, LtiKeyException, ToolConfException
from pylti1p3.message_launch import MessageLaunch
from pylti1p3.registration import TKeySet
from pylti1p3.request import Request
from pylti1p3.session import SessionService

from playground.limits import limit
from playground.lti.login import STATE_SECONDS, LaunchRefusedError, nonce, read_state
from playground.lti.platforms import Platform
from playground.lti.registrations import platform_of
from playground.lti.tool import registration, tool
from playground.models import UsedState
from playground.runtime.outbound import BoundedSession

ALGORITHM = "RS256"
LEEWAY_SECONDS = 60  # by which clocks may differ
KEYS_SECONDS = 3_600  # a platform's keys are kept
ASKED_SECONDS = 60  # between two calls for keys that are missing
DOWN_SECONDS = 10  # a platform that did not give its keys is not asked again
MOST_KEYS = 50
NEEDED = ["iss", "aud", "exp", "iat", "sub", "nonce"]
UNREACHABLE = (
    "The platform's keys could not be fetched, so the launch cannot be verified: try again in a minute"
)
AGAIN = "Open the lesson from your course again."
REMEDY = "The operator can add its origin to the platform's origins."


class _Request(Request):
    def __init__(self, given: Mapping[str, str]) -> None:
        self.given = given

    @property
    def session(self) -> dict[str, Any]:
        """Return a session that forgets: states keep themselves."""
        return {}

    def is_secure(self) -> bool:
        """Return what the library asks for its cookies, of which there are none."""
        return True

    def get_param(self, key: str) -> str:
        """Return a field of the form."""
        return self.given.get(key, "")


class _NoCookies(CookieService):
    def get_cookie(self, name: str) -> None:
        """Return nothing: the view reads the one cookie there is."""

    def set_cookie(self, name: str, value: str | int, exp: int | None = 3600) -> None:
        """Set nothing."""


class Launch(MessageLaunch[Any, Any, Any, Any]):
    """A message of a platform to one browser."""

    platform: Platform

    def __init__(self, given: Mapping[str, str], browser: str) -> None:
        """Take a form's fields, and the browser that sent them."""
        request = _Request(given)
        super().__init__(
            request, tool(), session_service=SessionService(request), cookie_service=_NoCookies()
        )
        self._browser = browser

    @property
    def claims(self) -> dict[str, Any]:
        """What the platform says."""
        return dict(self._jwt["body"])

    @property
    def teaches(self) -> bool:
        """Whether who launches teaches the course: of these a platform takes no score."""
        return (
            self.check_teacher_access() or self.check_staff_access() or self.check_teaching_assistant_access()
        )

    def _get_request_param(self, key: str) -> str:
        return self._request.get_param(key)

    def validate_state(self) -> Launch:
        """Refuse a state that is not of this browser."""
        state = self._get_request_param("state")
        if not state:
            raise LaunchRefusedError(f"The launch has no state. {AGAIN}")
        found = read_state(state)
        if not self._browser:
            raise LaunchRefusedError(
                "Your browser did not send podstep's cookie with the launch. Allow cookies for this site, or"
                " open the lesson in a tab of its own."
            )
        if not constant_time_compare(found.browser, self._browser):
            raise LaunchRefusedError(f"The launch was begun in another browser. {AGAIN}")
        platform = platform_of(found.platform)
        if platform is None:
            raise LaunchRefusedError("The platform that began the launch is no longer registered here.")
        self.platform = platform
        self._requests_session = BoundedSession(platform.allows, REMEDY)
        return self

    def validate_jwt_format(self) -> Launch:
        """Refuse a message that is too long, or no JSON objects."""
        if len(self._get_id_token()) > limit("LTI_TOKEN_BYTES"):
            raise LaunchRefusedError(
                f"The platform's message is longer than {limit('LTI_TOKEN_BYTES'):,} bytes."
            )
        super().validate_jwt_format()
        if not all(isinstance(self._jwt.get(part), dict) for part in ("header", "body")):
            raise LaunchRefusedError("The platform's message is not a JSON object.")
        return self

    def validate_nonce(self) -> Launch:
        """Refuse a nonce of another state."""
        given = self._jwt["body"].get("nonce")
        if not isinstance(given, str) or not constant_time_compare(
            given, nonce(self._get_request_param("state"))
        ):
            raise LaunchRefusedError(f"The nonce of the launch is not the one that was sent. {AGAIN}")
        return self

    def validate_registration(self) -> Launch:
        """Refuse a message of another platform than the state's, or for another client."""
        body, platform = self._jwt["body"], self.platform
        if body.get("iss") != platform.issuer:
            raise LaunchRefusedError(f"The launch comes from an issuer other than {platform.issuer}.")
        if body.get("aud") not in (platform.client_id, [platform.client_id]):
            raise LaunchRefusedError(
                f"The launch is for another client than {platform.client_id}. Compare the client ID with the"
                " operator's file."
            )
        self._registration = registration(platform)
        return self

    def fetch_public_key(self, key_set_url: str) -> TKeySet:
        """Return the platform's keys, as fetched within the hour unless the message's is not among them."""
        name = f"lti.keys:{self.platform.key}"
        kid = self._jwt["header"].get("kid")
        known: dict[str, Any] | None = cache.get(name)
        if known is not None and (
            any(key.get("kid") == kid for key in known["keys"])
            or not cache.add(f"{name}:asked", 1, ASKED_SECONDS)
        ):
            return cast(TKeySet, known)
        if cache.get(f"{name}:down"):
            raise LtiKeyException(UNREACHABLE)
        try:
            found = super().fetch_public_key(key_set_url)
        except LtiKeyException as error:  # who comes next need not wait for it as well
            cache.set(f"{name}:down", 1, DOWN_SECONDS)
            raise LtiKeyException(UNREACHABLE) from error
        keys = found.get("keys") if isinstance(found, dict) else None
        if not isinstance(keys, list) or not all(isinstance(key, dict) for key in keys):
            raise LtiKeyException(f"{key_set_url} is not a key set.")
        kept = {"keys": keys[:MOST_KEYS]}
        cache.set(name, kept, KEYS_SECONDS)
        return cast(TKeySet, kept)

    def validate_jwt_signature(self) -> Launch:
        """Refuse what the platform did not sign, or not lately; what it signed is what counts."""
        key, algorithm = self.get_public_key()
        if algorithm != ALGORITHM:
            raise LaunchRefusedError(f"The launch is signed by {str(algorithm)[:20]}, not by {ALGORITHM}.")
        try:
            body = jwt.decode(
                self._get_id_token(),
                key,
                algorithms=[ALGORITHM],
                audience=self.platform.client_id,
                issuer=self.platform.issuer,
                leeway=LEEWAY_SECONDS,
                options={"require": NEEDED},
            )
        except jwt.ExpiredSignatureError:
            raise LaunchRefusedError(
                f"The launch has expired, or the clocks differ by minutes. {AGAIN}"
            ) from None
        except jwt.ImmatureSignatureError:
            raise LaunchRefusedError(
                "The launch is dated in the future: the clocks of the platform and this server differ."
            ) from None
        except jwt.InvalidTokenError as error:
            raise LaunchRefusedError(f"The signature of the launch does not verify: {error}.") from None
        if body.get("azp", self.platform.client_id) != self.platform.client_id:
            raise LaunchRefusedError("The launch is authorized for another client.")
        self._jwt["body"] = cast(Any, body)
        return self

    def validate_deployment(self) -> Launch:
        """Refuse a deployment that is not registered."""
        given = self._get_deployment_id()
        if given not in self.platform.deployment_ids:
            raise LaunchRefusedError(
                f"Deployment {str(given)[:100]!r} of {self.platform.name} is not registered here. The"
                " operator can add it to the platform's deployment_ids."
            )
        return self

    def save_launch_data(self) -> Launch:
        """Use the state up. Raises LaunchRefusedError for one that was used."""
        digest = hashlib.sha256(self._get_request_param("state").encode()).hexdigest()
        expires = timezone.now() + timedelta(seconds=2 * STATE_SECONDS)
        try:
            with transaction.atomic():
                UsedState.objects.create(state=digest, expires=expires)
        except IntegrityError:
            raise LaunchRefusedError(f"This launch was used before. {AGAIN}") from None
        return self


def verified(given: Mapping[str, str], browser: str) -> Launch:
    """Return the launch of a form. Raises LaunchRefusedError."""
    launch = Launch(given, browser)
    try:
        launch.validate()
    except (LtiException, ToolConfException) as error:
        raise LaunchRefusedError(f"{str(error)[:300].rstrip('.')}. {AGAIN}") from error
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        if isinstance(error, LaunchRefusedError):
            raise
        raise LaunchRefusedError(
            "The platform's message does not have the form that LTI 1.3 describes."
        ) from error
    return launch
