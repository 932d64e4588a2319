"""What a page says of a lesson that its author has not finished, that cannot be stored, or has to wait."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from django.http import HttpRequest, HttpResponse

from playground.courseware import LessonError
from playground.pool.shares import BusyError
from playground.serving.error_pages import error_page
from playground.storage.quotas import StorageFullError
from playground.storage.store import GoneError

View = Callable[..., HttpResponse]


def unsound(view: View) -> View:
    """Turn what is wrong with a lesson into a page that says so."""

    @wraps(view)
    def shown(request: HttpRequest, *args: object, **names: object) -> HttpResponse:
        try:
            return view(request, *args, **names)
        except LessonError as error:
            return error_page(request, 409, str(error), title="This lesson cannot be played yet")
        except StorageFullError as error:
            return error_page(request, error.status, str(error))
        except GoneError as error:
            return error_page(request, 410, str(error))
        except BusyError as error:
            return error_page(request, error.status, str(error), retry_after=error.retry_after)

    return shown
