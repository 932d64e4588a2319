"""The language of a page: only those of lessons are translated, each by :func:`translated`.

``?lang=de`` chooses one, which a cookie remembers; without either the browser's Accept-Language does.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from pathlib import Path

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.cache import patch_vary_headers
from django.utils.translation.trans_real import DjangoTranslation
from django.views.i18n import JavaScriptCatalog

LOCALE = Path(__file__).resolve().parents[1] / "locale"
ASKED = "lang"
COOKIE_AGE = 365 * 24 * 3600

View = Callable[..., HttpResponse]


def asked_of(request: HttpRequest) -> str:
    """Return the language that an address names, English if it names none that is known."""
    asked = request.GET.get(ASKED, "")
    return asked if asked in dict(settings.LANGUAGES) else settings.LANGUAGE_CODE


def language_of(request: HttpRequest) -> str:
    """Return the language that a request asks for: by its address, its cookie, or its header."""
    if request.GET.get(ASKED, "") in dict(settings.LANGUAGES):
        return asked_of(request)
    return translation.get_language_from_request(request)


def translated(view: View) -> View:
    """Decorate a view whose page is rendered in the language that is asked for."""

    @wraps(view)
    def wrapper(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        language = language_of(request)
        with translation.override(language):
            response = view(request, *args, **kwargs)
        response.headers["Content-Language"] = language
        patch_vary_headers(response, ("Accept-Language", "Cookie"))
        if request.GET.get(ASKED) == language != request.COOKIES.get(settings.LANGUAGE_COOKIE_NAME):
            response.set_cookie(
                settings.LANGUAGE_COOKIE_NAME, language, max_age=COOKIE_AGE, httponly=True, samesite="Lax"
            )
        return response

    return wrapper


def current() -> str:
    """Return the language that is being rendered."""
    return translation.get_language() or settings.LANGUAGE_CODE


@cache
def words_of_scripts(language: str) -> dict[str, str | list[str]]:
    """Return what scripts say in a language by their English words, with two forms where a number decides.

    Empty for English.
    """
    if language == settings.LANGUAGE_CODE:
        return {}
    catalog = JavaScriptCatalog()
    catalog.translation = DjangoTranslation(language, domain="djangojs", localedirs=[str(LOCALE)])
    found: dict[str, str | list[str]] = catalog.get_catalog()
    return found
