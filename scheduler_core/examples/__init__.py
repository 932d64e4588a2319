"""Clusters to begin with: small ones written by hand, and a large one that is generated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import yaml

from scheduler_core.generate import large_cluster
from scheduler_core.objects.model import Node, Pod
from scheduler_core.scenario import Scenario


def _text(name: str) -> str:
    return files(__name__).joinpath(name).read_text(encoding="utf-8")


def trace_files() -> list[tuple[str, str]]:
    """Return the shipped excerpt of a GPU trace as (file name, CSV): nodes and pods."""
    return [(name, _text(name)) for name in ("gpu-trace.nodes.csv", "gpu-trace.pods.csv")]


def _gpu_trace() -> str:
    from scheduler_core.load import load

    return load(trace_files()).to_yaml()


_GENERATED: dict[str, Callable[[], str]] = {"five-hundred": large_cluster, "gpu-trace": _gpu_trace}


@dataclass(frozen=True, slots=True)
class Example:
    """One example: what the index says of it. ``slug`` is its address."""

    slug: str
    title: str
    text: str  # one sentence

    def read(self) -> str:
        """Return the bundle's text, as a user would have pasted it."""
        generate = _GENERATED.get(self.slug)
        if generate is not None:
            return generate()
        return _text(f"{self.slug}.yaml")

    def load(self) -> Scenario:
        """Return the example as a Scenario."""
        from scheduler_core.load import load

        return load(self.read(), title=self.title)

    def counts(self) -> tuple[int, int]:
        """Return how many nodes and pods there are over the whole history."""
        return _counts(self)


@cache
def _counts(example: Example) -> tuple[int, int]:
    scenario = example.load()
    created = [op.object for op in scenario.operations if op.action == "create"]
    everything = [*scenario.objects, *created]
    nodes = sum(isinstance(o, Node) for o in everything)
    return nodes, sum(isinstance(o, Pod) for o in everything)


@cache
def examples() -> tuple[Example, ...]:
    """Return all examples in the order of the index."""
    return tuple(Example(**row) for row in yaml.safe_load(_text("index.yaml")))


def find(slug: str) -> Example | None:
    """Return the example with that slug, or None."""
    return next((example for example in examples() if example.slug == slug), None)
