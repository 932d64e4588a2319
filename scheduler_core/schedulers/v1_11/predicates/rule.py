"""The declaration of a predicate: everything that other packages have to know about it.

A module of this package declares its predicates as ``RULES``;
:mod:`scheduler_core.schedulers.v1_11.predicates` finds them there. The orders, the providers, the plugins'
tables, preemption's verdict, the rows of the equivalence cache, Why? and the reference pages are derived from
the declarations. What belongs to a higher package, such as a row of the invalidation table, is declared by
its name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

from msgspec import Struct

from scheduler_core.kubernetes.manifests import Manifest
from scheduler_core.kubernetes.model import Node, Pod
from scheduler_core.kubernetes.policy_argument import PolicyArgument
from scheduler_core.schedulers.columns.reads import Reads
from scheduler_core.schedulers.profiles.predicate import Predicate

NO_CHANGE = "no change"


class OrderPlace(NamedTuple):
    """A place in a static order: numbers ascend, and one in between inserts; ``why`` is the reason.

    ``name`` is the name in that order if it is not the key. Rules of one name share the place.
    """

    number: int
    why: str = ""
    name: str = ""


class FilterPlugin(NamedTuple):
    """The plugin that evaluates the predicate at filter; ``differs`` is what today's does otherwise."""

    name: str
    differs: str = ""


class SuggestedChange(NamedTuple):
    """A change that may resolve a reason: of the pod, or of the node.

    ``words`` are an imperative sentence, and ``cost`` a key of ``EFFORT`` in
    :mod:`scheduler_core.explain.edits`.
    """

    kind: Literal["Pod", "Node"]
    words: str
    cost: str
    mutate: Callable[[Manifest], None]


class ReasonFacts(NamedTuple):
    """The facts behind a reason as sentences, and the alternatives, each of changes that belong together."""

    details: tuple[str, ...] = ()
    options: tuple[tuple[SuggestedChange, ...], ...] = ()


Explain = Callable[[Pod, Node], ReasonFacts]


class Reason(Struct, frozen=True):
    """A reason for a failure: its ``text``, and whether deleting pods may resolve it.

    ``explain`` returns the facts and changes from the pod and the node. A finding that has to look at the
    rest of the cluster is a function of :mod:`scheduler_core.explain.findings`, and ``finding`` its name
    there; ``NO_CHANGE`` is the finding that nothing resolves the reason. Without either, changes are derived
    from the fields that the rule reads. A ``prefix`` is followed by the name of a resource.
    """

    text: str
    resolvable: bool = True
    finding: str = ""
    explain: Explain | None = None
    prefix: bool = False


class Rule(Struct, frozen=True, kw_only=True):
    """A predicate, by its key in v1.11.

    ``text`` is its sentence on the reference page; without it the class's docstring is shown. ``check`` is
    ``None`` if arguments create the predicate: then ``made`` is its class and ``argument`` the one of a
    policy. A rule that is not ``registered`` cannot be named by a policy. ``other_names`` are registered too,
    but have no place in an order.

    A Policy is converted to the ``plugin``, or to the one that it is ``converted_to`` if that evaluates
    another rule; ``not_converted`` is why to none.

    ``invalidated_by`` are ids of rows of the invalidation table. Where a row distinguishes predicates by the
    event, ``aspect`` is the fact, or the field of a volume, that this one depends on. A rule without a row is
    invalidated by every event within its scope, in the mode that has to be correct. ``identity`` are fields
    that it reads of the pod itself rather than of its class.
    """

    key: str
    check: Predicate | None = None
    made: type[Predicate] | None = None
    argument: PolicyArgument | None = None
    text: str = ""
    v1_11: OrderPlace | None = None
    proposal: OrderPlace | None = None
    default: bool = False
    mandatory: bool = False
    registered: bool = True
    other_names: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    plugin: FilterPlugin | None = None
    converted_to: str = ""
    not_converted: str = ""
    reasons: tuple[Reason, ...] = ()
    invalidated_by: tuple[str, ...] = ()
    aspect: str = ""
    identity: tuple[str, ...] = ()

    @property
    def reads(self) -> Reads:
        """The fields that a result depends on."""
        source = self.check or self.made
        if source is None:
            raise ValueError(f"{self.key} declares neither a check nor its class")
        reads: Reads = source.reads  # type: ignore[assignment]
        return reads
