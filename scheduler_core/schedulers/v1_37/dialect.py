"""In what releases of kube-scheduler differ, as far as the engine asks: a field for each such rule.

The fields' defaults are those of the newest release that recorded decisions prove. A release says in its
module (:mod:`.releases`) what it does otherwise, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from msgspec import Struct, field

from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.settings.feature_gates import DEFAULTS, LOCKED

_UPSTREAM = "https://github.com/kubernetes/kubernetes/blob"


def unset(*given: Any) -> Any:
    """Stand for what a release has to say itself."""
    raise NotImplementedError(given)


class Difference(Struct, frozen=True, kw_only=True, eq=False):
    """One rule in which a release differs from the one that it is derived from.

    ``subject`` is the plugin or the part of the scheduler; ``here`` is what the release does and ``there``
    what the other one does, each a clause. ``source`` is the file upstream, below ``pkg/scheduler`` unless it
    begins with a module. ``gates`` are defaults, None for a gate that the release does not have. ``plugins``
    are fields of the plugins' declarations, ``events`` are registrations that a plugin has besides,
    ``fields`` are those of the :class:`Dialect`. ``shows`` are the parts of a recorded attempt in which it
    can be seen. ``proof`` is whether recorded decisions of the release have it.
    """

    subject: str
    here: str
    there: str
    source: str
    gates: Mapping[str, bool | None] = {}
    plugins: Mapping[str, Mapping[str, Any]] = {}
    events: Mapping[str, tuple[Any, ...]] = {}
    fields: Mapping[str, Any] = {}
    shows: tuple[str, ...] = ()
    proof: bool = False


class Dialect(Struct, frozen=True, kw_only=True, eq=False, dict=True):
    """A release, as plugins, queue and attempt ask for it. Equal only to itself; copies are the same object.

    ``gates`` are the defaults of its feature gates; ``lacks`` are those that are only simulated off,
    ``locked`` those that are always on. ``rows`` are the plugins' declarations
    (:class:`.plugins.declaration.Declared`) in the order of the default profile, ``batching`` makes what
    keeps scored nodes (:class:`.batching.OpportunisticBatching`), ``pod`` compiles pods, by the rule for what
    a pod on a node holds. ``own_events`` begins the names of events of the waiting pod itself.
    ``allocation_texts`` are what PostFilter of DynamicResources says without claims, and with nothing to
    free. ``announces_victims``: a successful preemption says what it found. ``explains_selectors``: an error
    of a selector names the device and what would help. ``migrates_if_annotated`` are in-tree plugins whose
    volumes count as their driver's only where the CSINode's annotation says so. ``driver_may_be_missing``: a
    node may lack a driver unless its CSIDriver asks to prevent that. ``checks_shape``: a strategy
    that reads no shape may not have one. ``keeps_alternative``: a subrequest that takes all devices takes the
    second one too, not the first subrequest in its place. ``base`` is the release that ``differences`` are
    from, "" for the newest. ``unproven`` says why no recorded decisions prove it, "" if they do.
    """

    name: str = ""
    gates: Mapping[str, bool] = field(default_factory=lambda: DEFAULTS)
    rows: Mapping[str, Any] = {}
    batching: Callable[..., Any] = unset
    pod: type[CompiledPod] = CompiledPod
    own_events: str = "TargetPod"
    allocation_texts: tuple[str, str] = ("", "")
    announces_victims: bool = True
    explains_selectors: bool = True
    migrates_if_annotated: frozenset[str] = frozenset()
    driver_may_be_missing: bool = True
    checks_shape: bool = True
    keeps_alternative: bool = True
    base: str = ""
    differences: tuple[Difference, ...] = ()
    unproven: str = ""
    lacks: tuple[str, ...] = ()
    locked: frozenset[str] = LOCKED

    @cached_property
    def plugins(self) -> Mapping[str, Any]:
        """The code of the plugins that filter or score, by name."""
        return {row.key: row.code for row in self.rows.values() if row.code is not None}

    @cached_property
    def declared(self) -> tuple[Any, ...]:
        """The declarations of those that implement an extension point, in order."""
        return tuple(row for row in self.rows.values() if row.points)

    def source_of(self, difference: Difference) -> str:
        """Return a link to the file upstream in which a rule is, on the branch of the release."""
        head, _, rest = difference.source.partition("/")
        path = f"pkg/scheduler/{difference.source}"
        if head == "k8s.io":
            module, _, inner = rest.partition("/")
            path = inner if module == "kubernetes" else f"staging/src/{difference.source}"
        return f"{_UPSTREAM}/release-{self.name.removeprefix('v')}/{path}"

    def __post_init__(self) -> None:
        """Let pickles find it by its name."""
        _KNOWN.setdefault(self.name, self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Dialect:
        """Return itself: it never changes."""
        del memo
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Unpickle as the release of that name, whose module has to be imported."""
        return known, (self.name,)


_KNOWN: dict[str, Dialect] = {}


def known(name: str) -> Dialect:
    """Return the dialect of a release whose module was imported."""
    return _KNOWN[name]


CURRENT = Dialect()
"""What a cluster without a configuration goes by."""
