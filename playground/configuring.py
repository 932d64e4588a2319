"""A text with a small change to its Policy or settings: only that document is written anew."""

from __future__ import annotations

from typing import Any

from playground import bundles
from playground.drafting import written
from scheduler_core.policy.editing import edited


def configured(text: str, what: str, name: str, value: str) -> dict[str, Any]:
    """Return ``text`` with one change to its configuration, and whether all of it had to be written anew.

    Documents that cannot be told apart by their ``---``, as in a List or in JSON, cost a text its comments
    and its form. Raises BundleError for a text, or a policy, that cannot be used, TooLargeError, and
    EditError for a change that cannot be made.
    """
    scenario = bundles.parse([("", text)])
    after = edited(scenario.documents, what, name, value)
    if after == scenario.documents:
        return {"text": text, "rewritten": False}
    return written(text, scenario, after)
