"""What kinds of scenarios the shipped examples are: tables of tests are made of it, in every process."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from scheduler_core.authoring.examples import examples
from scheduler_core.run import is_timed


class ExampleKind(NamedTuple):
    """The release that answers an example, whether it is timed, and whether it has operations."""

    release: str
    timed: bool
    operated: bool


@cache
def example_kinds() -> Mapping[str, ExampleKind]:
    """Return the kind of each example by its slug, for which each is read once."""
    loaded = ((example.slug, example.load()) for example in examples())
    return {slug: ExampleKind(one.release, is_timed(one), bool(one.operations)) for slug, one in loaded}
