"""Errors of an edit, converted to the errors of the socket."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from playground.edits.bulk import BulkError
from playground.edits.edit_operations import MissingError, ObjectError
from playground.live.errors import CommandError
from playground.storage import bundles
from scheduler_core.authoring.policy_rewrites import EditError
from scheduler_core.authoring.verb_targets import VerbError
from scheduler_core.scenario.history import HistoryError


@contextmanager
def refusals(field: str = "") -> Iterator[None]:
    """Convert the errors of an edit to CommandError; ``field`` is the default for the error's field."""
    try:
        yield
    except (HistoryError, BulkError, VerbError) as error:
        raise CommandError("payload.invalid", str(error), field=field or error.field) from error
    except MissingError as error:
        raise CommandError("object.not-found", str(error)) from error
    except ObjectError as error:
        errors = bundles.problems_wire(error.problems)
        raise CommandError("object.invalid", str(error), errors=errors) from error


def refused_edit(error: EditError) -> CommandError:
    """Return the error of a change to a configuration, with ``errors`` at fields where they are known."""
    details = {"errors": bundles.problems_wire(error.problems)} if error.problems else {}
    return CommandError("payload.invalid", str(error), field="value", **details)
