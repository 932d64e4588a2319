"""The axes of a sweep: what can vary between cells, each with the edit of the bundle that a value stands for.

An axis is named as in ``weights.NodeResourcesFit`` or ``cache``: one of a family names its part after the
dot. Edits are those that the workbench and the command line make, so a cell is a scenario that a user could
have written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from itertools import pairwise
from random import Random
from typing import Any

from msgspec import Struct

from scheduler_core.authoring import policy_edits, v1_37_edits
from scheduler_core.authoring.policy_edits import CHOICES, SWITCHES
from scheduler_core.authoring.policy_rewrites import EditError
from scheduler_core.authoring.verbs import VERBS, Verb, operations
from scheduler_core.compare.again import taken_off
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.support import part_of
from scheduler_core.scenario.history_entries import with_entries
from scheduler_core.settings.release import (
    ALONE,
    CACHING,
    CONFIGURATION_KIND,
    DEFAULT_SCHEDULER,
    POLICY_KIND,
    row_of,
)
from scheduler_core.studies.sweep.descheduler_policies import check_runs, with_policy
from scheduler_core.studies.sweep.node_shapes import EXAMPLE as SHAPES
from scheduler_core.studies.sweep.node_shapes import shaped
from scheduler_core.studies.sweep.profiles import number_of, served
from scheduler_core.studies.sweep.quota import with_quota
from scheduler_core.studies.sweep.shapes import ORDERS, arrived, grown, resized

Documents = Sequence[Document]
Change = Callable[["Setting", Documents], Documents]


class Setting(Struct, frozen=True):
    """An axis's value in a cell: the axis, its part ("" without), the value, the release and the seed.

    ``profile`` is the one that serves the cell's pods, "" for the first of the configuration.
    """

    axis: str
    part: str
    value: Any
    release: str
    seed: int = 0
    profile: str = ""

    @property
    def text(self) -> str:
        """The value as the forms send it."""
        if isinstance(self.value, bool):
            return str(self.value).lower()
        return "" if self.value is None else str(self.value)

    @property
    def by_plugins(self) -> bool:
        """Whether the release is configured by plugins."""
        return row_of(self.release).form == "plugins"


class Axis(Struct, frozen=True):
    """What can vary: its name, what it is, values as an example, and the edit; a family has a ``part``.

    ``named`` says what the values are, where the grid has objects by names of its own; if such an axis is
    ``listed`` too, a list names what the bundle has.
    """

    name: str
    about: str
    example: tuple[Any, ...] | Mapping[str, Any]
    change: Change
    part: str = ""
    named: str = ""
    listed: bool = True

    @property
    def title(self) -> str:
        """The name with the placeholder of its part, as in ``weights.PLUGIN``."""
        return f"{self.name}.{self.part}" if self.part else self.name


def _setting(one: Setting, documents: Documents) -> Documents:
    return policy_edits.edited(documents, "setting", one.axis, one.text)


def _of_profile(one: Setting, documents: Documents, what: str, part: str, value: str) -> Documents:
    """Change the plugins of the profile that serves the cell's pods."""
    place = f"{number_of(documents, one.profile)}/{part}"
    return v1_37_edits.edited(documents, what, place, value)


def _weight(one: Setting, documents: Documents) -> Documents:
    if one.by_plugins:
        return _of_profile(one, documents, "weight", one.part, one.text)
    if any(document.get("kind") == CONFIGURATION_KIND for document in documents):
        return policy_edits.edited(documents, "weights", one.profile, json.dumps({one.part: one.value}))
    return policy_edits.edited(documents, "priority", one.part, one.text)


def _switch(one: Setting) -> str:
    if type(one.value) is not bool:
        raise EditError(f"must be true or false, not {one.text[:40]!r}")
    return "on" if one.value else "off"


def _predicate(one: Setting, documents: Documents) -> Documents:
    if one.by_plugins:
        raise EditError(f"predicates are v1.11's: use plugins.NAME under {one.release}")
    return policy_edits.edited(documents, "predicate", one.part, _switch(one))


def _plugin(one: Setting, documents: Documents) -> Documents:
    if not one.by_plugins:
        raise EditError(f"{one.release} has no plugins: use predicates.NAME or weights.NAME")
    return _of_profile(one, documents, "plugin", f"{v1_37_edits.EVERYWHERE}/{one.part}", _switch(one))


def _gate(one: Setting, documents: Documents) -> Documents:
    if not row_of(one.release).has_gates:
        raise EditError(f"{one.release} has no feature gates here")
    return v1_37_edits.edited(documents, "gate", one.part, one.text)


def _percentage(one: Setting, documents: Documents) -> Documents:
    if not one.by_plugins:
        raise EditError(f"{one.release} takes it from no configuration here")
    return v1_37_edits.edited(documents, "percentage", "", one.text)


_LEAST, _MOST, _RATIO = "LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"
_PRIORITIES = {_LEAST: "LeastRequestedPriority", _MOST: "MostRequestedPriority"}
_POINT = re.compile(r"(\d{1,3}):(\d{1,2})")


def _strategy(one: Setting, documents: Documents) -> Documents:
    name, *points = one.text.split()
    if name not in (*_PRIORITIES, _RATIO) or bool(points) != (name == _RATIO):
        raise EditError(
            f"must be {_LEAST}, {_MOST}, or {_RATIO} with the score at each utilization, "
            f"as in {_RATIO} 0:0 100:10, not {one.text[:60]!r}"
        )
    shape = _shape(points)
    if one.by_plugins:
        resources = [{"name": name, "weight": 1} for name in ("cpu", "memory")]
        strategy = {"type": name, "resources": resources}
        ratio = {"requestedToCapacityRatio": {"shape": shape}} if shape else {}
        arguments = {"scoringStrategy": {**strategy, **ratio}}
        return _of_profile(one, documents, "arguments", "NodeResourcesFit", json.dumps(arguments))
    for other, priority in _PRIORITIES.items():
        documents = policy_edits.edited(documents, "priority", priority, "1" if other == name else "0")
    if not shape:
        return documents
    argument = {"requestedToCapacityRatioArguments": {"shape": shape}}
    return policy_edits.edited(
        documents, "argument", _RATIO, json.dumps({"list": "priorities", "argument": argument})
    )


def _shape(points: Sequence[str]) -> list[dict[str, int]]:
    """Read points such as ``0:0``, the score from 0 to 10 at a utilization in per cent."""
    read = [_POINT.fullmatch(point) for point in points]
    found = [(int(match[1]), int(match[2])) for match in read if match]
    if len(found) < len(read) or any(x > 100 or y > 10 for x, y in found):
        raise EditError(f"a point of {_RATIO} is UTILIZATION:SCORE, of 0 to 100 and 0 to 10, as in 50:5")
    if any(one[0] >= other[0] for one, other in pairwise(found)):
        raise EditError(f"the points of {_RATIO} must ascend in utilization, as in 0:0 100:10")
    return [{"utilization": x, "score": y} for x, y in found]


def _configuration(one: Setting, documents: Documents) -> Documents:
    """Replace the bundle's configuration by the named one, which the grid holds."""
    kept = [one for one in documents if one.get("kind") not in (POLICY_KIND, CONFIGURATION_KIND)]
    return kept if one.value is None else [one.value, *kept]


def _shaped(one: Setting, documents: Documents) -> Documents:
    return shaped(documents, one.value)


def _served(one: Setting, documents: Documents) -> Documents:
    return served(documents, one.value, one.release)


def _policy(one: Setting, documents: Documents) -> Documents:
    check_runs(one.release)
    return with_policy(documents, one.value)


def _descheduler(one: Setting, documents: Documents) -> Documents:
    check_runs(one.release)
    if one.value is None or one.value is False:
        return policy_edits.edited(documents, "descheduling", "", "")
    documents = policy_edits.edited(documents, "descheduling", "", "on")
    return documents if one.value is True else policy_edits.edited(documents, "strategy", one.text, "on")


def _again(one: Setting, documents: Documents) -> Documents:
    return list(taken_off(documents)) if _switch(one) == "on" else documents


def _nodes(one: Setting, documents: Documents) -> Documents:
    return resized(documents, one.value)


def _copies(one: Setting, documents: Documents) -> Documents:
    return grown(documents, one.part, one.value)


def _arrival(one: Setting, documents: Documents) -> Documents:
    return arrived(documents, one.text, one.seed)


def _seed(one: Setting, documents: Documents) -> Documents:
    """Leave the bundle as it is: :func:`_arrival` reads the seed."""
    if type(one.value) is not int or not 0 <= one.value < 2**31:
        raise EditError(f"must be a whole number from 0, not {one.text[:40]!r}")
    return documents


def _verb(one: Setting, documents: Documents) -> Documents:
    if one.value is None:
        return documents
    return with_entries(documents, operations(documents, [(one.axis, one.text)]))


def _failures(one: Setting, documents: Documents) -> Documents:
    names = [str(part_of(node, "metadata", "name")) for node in documents if node.get("kind") == "Node"]
    if type(one.value) is not int or not 0 <= one.value <= len(names):
        raise EditError(f"must be a whole number from 0 to the {len(names):,} nodes, not {one.text[:40]!r}")
    failed = Random(f"failures/{one.seed}").sample(names, one.value)  # noqa: S311 - a simulation
    return with_entries(documents, operations(documents, [("fail", name) for name in failed]))


def _quota(one: Setting, documents: Documents) -> Documents:
    return with_quota(documents, one.part, one.value)


def _of_v1_11(one: Setting, documents: Documents) -> Documents:
    if not row_of(one.release).has_cache:
        raise EditError(f"is read by {CACHING} alone, and {one.release} answers")
    return _setting(one, documents)


def _choices(name: str) -> tuple[Any, ...]:
    values = CHOICES[name][0]
    return tuple(value == "true" for value in values) if name in SWITCHES else tuple(values)


def _example(verb: Verb) -> str:
    about = {"Node": "NODE", "Pod": "POD"}.get(verb.kinds[0], "deploy/NAME")
    return f"{about}={verb.value.example}" if verb.value is not None else about


_ABOUT_V1_11 = {
    "quirks": "whether known bugs are reproduced or fixed",
    "predicateOrder": "the order in which predicates are evaluated",
    "cache": "the equivalence cache's mode",
    "equivalenceClass": "which pods the cache takes for equal",
    "audit": "whether each hit of the cache is checked",
    "staleWrites": "what protects the cache from stale writes",
}

_ROWS = (
    Axis("scheduler", "which kube-scheduler answers", tuple(row.name for row in ALONE), _setting),
    Axis(
        "config",
        "a Policy or KubeSchedulerConfiguration, by a name of your own",
        (),
        _configuration,
        named="configurations",
        listed=False,
    ),
    Axis("profile", "which profile serves what arrives: its schedulerName", (DEFAULT_SCHEDULER,), _served),
    *(
        Axis(name, f"{about}, under {CACHING}", _choices(name), _of_v1_11)
        for name, about in _ABOUT_V1_11.items()
    ),
    Axis("weights", "the weight of a score plugin or priority; 0 disables it", (0, 1, 2), _weight, "NAME"),
    Axis("predicates", f"a predicate of {CACHING}, on or off", (True, False), _predicate, "NAME"),
    Axis("plugins", "a plugin at all its points, on or off", (True, False), _plugin, "NAME"),
    Axis("gates", "a feature gate", (True, False), _gate, "NAME"),
    Axis(
        "scoringStrategy",
        f"of NodeResourcesFit; under {CACHING} its priority",
        (_LEAST, _MOST, f"{_RATIO} 0:0 100:10"),
        _strategy,
    ),
    Axis("percentageOfNodesToScore", "of all profiles; 0 is adaptive", (0, 20, 50, 100), _percentage),
    Axis(
        "shape",
        "what nodes have, their labels, number and price, by a name of your own",
        SHAPES,
        _shaped,
        named="shapes",
        listed=False,
    ),
    Axis("nodes", "the number of nodes: copies are added, or the last are left out", (10, 20, 40), _nodes),
    Axis("copies", "how many copies of one node are added", (0, 2, 4), _copies, "NODE"),
    Axis("again", "whether running pods are taken off their nodes first", (True,), _again),
    Axis("arrival", "the order in which workloads and pods arrive", ORDERS, _arrival),
    Axis("seed", "what a shuffled arrival and failures are drawn from; 0: as given", (1, 2, 3), _seed),
    Axis("failures", "how many nodes, drawn by the seed, fail at 60 s", (0, 1, 2), _failures),
    Axis("quota", "a nominal quota of a ClusterQueue of Kueue", (4, 8, 16), _quota, "QUEUE/FLAVOR/RESOURCE"),
    Axis(
        "deschedulerPolicy",
        "the DeschedulerPolicy that runs, by a name of your own, or one that the bundle names",
        ("default",),
        _policy,
        named="policies",
    ),
    Axis("descheduler", "whether one runs, or with one more strategy", (False, True), _descheduler),
    *(
        Axis(name, f"{verb.help}; null for nothing", (None, _example(verb)), _verb)
        for name, verb in VERBS.items()
    ),
)
AXES: Mapping[str, Axis] = {row.name: row for row in _ROWS}
"""The axes by name, in the order in which a cell's values are applied."""
NAMED = tuple(row.name for row in _ROWS if row.named)
"""Axes whose values a grid may have as objects by names of its own."""


def written(name: str, value: Any) -> Any:
    """Return a value of an axis as it was meant: YAML reads an unquoted ``off`` as false."""
    return "off" if value is False and "off" in CHOICES.get(name, ((),))[0] else value


def axis_of(name: str) -> tuple[Axis, str]:
    """Return the axis of a name in a grid, and the part of a family that it names.

    Raises:
        EditError: There is none.
    """
    head, _, part = name.partition(".")
    axis = AXES.get(head)
    if axis is None or bool(part) != bool(axis.part):
        near = get_close_matches(head, AXES, 1)
        known = ", ".join(row.title for row in _ROWS if row.name not in VERBS)
        did = f"; did you mean {AXES[near[0]].title}?" if near else f": {known}, or a verb such as scale"
        raise EditError(f"is no axis{did}")
    return axis, part
