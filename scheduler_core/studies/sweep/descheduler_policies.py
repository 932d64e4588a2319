"""The policy of the descheduler: one of the grid's own, or one that the bundle names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scheduler_core.authoring.descheduler_edits import with_descheduler
from scheduler_core.authoring.policy_rewrites import EditError
from scheduler_core.formats.bundle import BundleEntry
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.support import part_of
from scheduler_core.scenario.config_maps import contained_in
from scheduler_core.settings.descheduler import DESCHEDULER_POLICY, is_descheduler_policy
from scheduler_core.settings.release import row_of


def check_runs(release: str) -> None:
    """Raise EditError if no descheduler runs beside a release."""
    if not row_of(release).has_controllers:
        raise EditError(f"no descheduler runs under {release}, which has no controllers")


def with_policy(documents: Sequence[Document], given: Any) -> Sequence[Document]:
    """Return the documents with a descheduler that runs by a policy, None without one.

    A policy is a document, or a name: of a profile of the bundle's policy, which then runs alone, or of a
    ConfigMap with a policy in it.

    Raises:
        EditError: It is no DeschedulerPolicy, or the bundle has none of this name.
    """
    others = [one for one in documents if not is_descheduler_policy(one)]
    if given is None:
        return with_descheduler(others, "")
    if not isinstance(given, Mapping):
        given = _named(documents, str(given))
    if given.get("kind") != DESCHEDULER_POLICY:
        raise EditError(f"must be a {DESCHEDULER_POLICY}, not a {str(given.get('kind'))[:40]}")
    return with_descheduler([*others, given], "on")


def _named(documents: Sequence[Document], name: str) -> Document:
    known = dict(_policies_of(documents))
    if name not in known:
        listed = f"there are {', '.join(list(known)[:12])}" if known else "it names none"
        raise EditError(
            f"the bundle has no profile of a {DESCHEDULER_POLICY} and no ConfigMap with one "
            f"that is called {name[:60]!r}; {listed}"
        )
    return known[name]


def _policies_of(documents: Sequence[Document]) -> Iterator[tuple[str, Document]]:
    """Yield the policies that the bundle names, those of profiles last: they come first in :func:`_named`."""
    for one in documents:
        for inside in contained_in(BundleEntry(dict(one), str(one.get("kind")))):
            if inside.kind == DESCHEDULER_POLICY:
                yield str(part_of(one, "metadata", "name")), inside.entry.value
    for one in filter(is_descheduler_policy, documents):
        for profile in one.get("profiles") or ():
            if isinstance(profile, Mapping) and profile.get("name"):
                yield str(profile["name"]), {**one, "profiles": [profile]}
