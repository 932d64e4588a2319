"""Who may print a lesson's answers: everybody, until a platform grades lessons; then who teaches.

A teacher has a signed link, from the lesson's last page in the course or from ``manage.py answers``.
"""

from __future__ import annotations

from django.conf import settings
from django.core import signing

from playground.models import AuthoredLesson

SALT = "podstep.lessons.answers"
ANYBODY = "1"
SECONDS = 180 * 24 * 3600  # for which a link is good: a term
REFUSED = (
    "This server grades lessons for courses, so their answers are for those who teach: open the lesson in"
    " your course as its teacher and take the link on its last page, or ask the operator for one (manage.py"
    " answers)."
)


def signed(slug: str) -> str:
    """Return the value of ``answers`` with which anybody prints a lesson's answers."""
    return signing.dumps(slug, salt=SALT)


def allowed(slug: str, author: AuthoredLesson | None, visitor: str, given: str) -> str:
    """Return the value of ``answers`` that a visitor may use, "" if they may see none."""
    own = author is not None and bool(visitor) and author.owner == visitor
    if own or not settings.LTI_PLATFORMS:
        return ANYBODY
    return given if _is_signed(slug, given) else ""


def _is_signed(slug: str, given: str) -> bool:
    try:
        return bool(signing.loads(given[:300], salt=SALT, max_age=SECONDS) == slug)
    except (signing.BadSignature, ValueError):
        return False
