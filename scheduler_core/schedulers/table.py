"""What each release does with what a scenario writes: a row per release, which other packages ask."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct

from scheduler_core.formats.bundle import BundleEntry
from scheduler_core.formats.decode import Decoded
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.problems import Problem
from scheduler_core.kubernetes.readers import At, Report
from scheduler_core.schedulers.out_of_tree import without_out_of_tree
from scheduler_core.schedulers.v1_11 import RELEASE as V1_11
from scheduler_core.schedulers.v1_22 import RELEASE as V1_22
from scheduler_core.schedulers.v1_22.configuration import profiles
from scheduler_core.schedulers.v1_22.configuration.profiles import Configuration
from scheduler_core.schedulers.v1_37.benchmark import SHAPES
from scheduler_core.schedulers.v1_37.configuration import (
    v1_37_plugins,
    warn_of_readers,
)
from scheduler_core.schedulers.v1_37.dialect import Dialect
from scheduler_core.schedulers.v1_37.fields import check_v1_37_fields
from scheduler_core.schedulers.v1_37.honored_fields import honored
from scheduler_core.schedulers.v1_37.left_out import ScenarioParts, is_settled, left_out, left_out_beside
from scheduler_core.schedulers.v1_37.plugins.coscheduling import NAME as COSCHEDULING
from scheduler_core.schedulers.v1_37.releases import DIALECTS
from scheduler_core.settings.release import CONFIGURATION_KIND, is_framework_document
from scheduler_core.settings.settings import Settings

if TYPE_CHECKING:
    from scheduler_core.schedulers.v1_22.configuration.result import EnabledPlugins


def _is_never_settled(problem: Problem, configurations: Iterable[Configuration]) -> bool:
    del problem, configurations
    return False


class ReleaseSupport(Struct, frozen=True, kw_only=True):
    """What a release does with what a scenario writes.

    ``check`` reports what is wrong in a configuration beyond :func:`.profiles.checked`; ``plugins`` returns
    the plugins of each profile by schedulerName, ``None`` for predicates and priorities. ``check_objects``
    reports what is wrong in fields and kinds without a typed reader, ``None``: it reads none. ``honors``
    returns reported fields and kinds that it honors. ``left_out`` returns a warning for what it does not do,
    ``left_out_beside`` for what it does not do with other schedulers; ``is_settled`` says whether a warning
    of reading does not apply to it. ``shapes`` are the workloads that ``bench`` writes as manifests.
    ``holding`` are the plugins that make pods wait, for which time has to pass.
    """

    check: Callable[[Configuration, At], None]
    plugins: Callable[[Configuration], Mapping[str, EnabledPlugins] | None] = profiles.framework_plugins
    check_objects: Callable[[Iterable[Decoded], Iterable[BundleEntry], Report], None] | None = None
    honors: Callable[[Iterable[Settings]], frozenset[str]] = lambda _: frozenset()
    left_out: Callable[[ScenarioParts], tuple[Problem, ...]] = lambda _: ()
    left_out_beside: Callable[[Sequence[Document], Configuration], tuple[Problem, ...]] = lambda *_: ()
    is_settled: Callable[[Problem, Iterable[Configuration]], bool] = _is_never_settled
    shapes: Collection[str] = ()
    holding: frozenset[str] = frozenset()


def _check_v1_11(configuration: Configuration, at: At) -> None:
    if is_framework_document(configuration.policy):
        at.child("kind").warn(f"kube-scheduler {V1_11} reads no {CONFIGURATION_KIND}: it is ignored")


def _check_v1_22(configuration: Configuration, at: At) -> None:
    """Report nothing: it was checked when it was compiled."""
    del configuration, at


def _check_v1_37(configuration: Configuration, at: At) -> None:
    from scheduler_core.schedulers.v1_37.configuration_checks import check_v1_37_configuration

    check_v1_37_configuration(configuration.policy or {}, configuration.settings, at, configuration.reader)


def _by_plugins(dialect: Dialect) -> ReleaseSupport:
    return ReleaseSupport(
        check=_check_v1_37,
        plugins=v1_37_plugins,
        check_objects=check_v1_37_fields,
        honors=honored,
        left_out=partial(left_out, dialect),
        left_out_beside=partial(left_out_beside, dialect),
        is_settled=is_settled,
        shapes=SHAPES,
        holding=frozenset({COSCHEDULING}),
    )


SUPPORT: Mapping[str, ReleaseSupport] = {
    V1_11: ReleaseSupport(check=_check_v1_11),
    V1_22: ReleaseSupport(check=_check_v1_22),
    **{release: _by_plugins(dialect) for release, dialect in DIALECTS.items()},
}

TYPED = next(name for name, row in SUPPORT.items() if row.check_objects is None)
"""A release for which reading checks no more than the fields of typed objects."""


def support_beside(settings: Settings) -> Iterator[ReleaseSupport]:
    """Yield each release that schedulers of the settings' list run, oldest first."""
    return (row for name, row in SUPPORT.items() if settings.runs(name))


def checked(policy: Document, settings: Settings, at: At) -> Configuration:
    """Compile a bundle's configuration; report its errors, and who does not read it, to ``at``.

    Plugins from outside of kube-scheduler are left out of it.
    """
    made = profiles.checked(without_out_of_tree(policy, at), settings, at)
    if settings.mixes_releases:
        warn_of_readers(made, at)
    SUPPORT[made.reader].check(made, at)
    return made
