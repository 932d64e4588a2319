"""What the rules of a scheduler are called: predicates and priorities, or plugins at Filter and Score."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace


class Terms(Struct, frozen=True, kw_only=True, rename="camel"):
    """The words of a release, for texts and for the workbench's tabs and columns.

    ``points`` are the extension points of the phases of a cycle that the release calls otherwise.
    """

    rule: str  # what fails on a node
    rules: str
    filter: str
    filters: str
    scorer: str
    scorers: str
    column: str  # where it is clear that it scores
    columns: str
    filter_tab: str
    cache_tab: str
    score_tab: str
    raw: str
    score: str
    reference: str  # the page about them
    all: str  # the part of that page
    points: Mapping[str, str] = {}


PREDICATES = Terms(
    rule="predicate",
    rules="predicates",
    filter="predicate",
    filters="predicates",
    scorer="priority",
    scorers="priorities",
    column="priority",
    columns="priorities",
    filter_tab="Predicates",
    cache_tab="Cache",
    score_tab="Priorities",
    raw="Map",
    score="Reduced",
    reference="/reference/",
    all="priorities",
)
PLUGINS = replace(
    PREDICATES,
    rule="plugin",
    rules="filters",
    filter="filter plugin",
    filters="filter plugins",
    scorer="score plugin",
    scorers="score plugins",
    column="plugin",
    columns="plugins",
    filter_tab="Filter",
    cache_tab="Batching",
    score_tab="Score",
    raw="Score",
    score="Normalized",
    reference="/reference/plugins/",
    all="plugins",
    points={
        "predicates": "filter",
        "priorities": "score",
        "preemption": "postFilter",
        "assume": "reserve",
    },
)
