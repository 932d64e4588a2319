"""Counts how often documents that configure the scheduler are compiled."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from scheduler_core.schedulers.v1_11.policy.reader import PolicyReader
from scheduler_core.schedulers.v1_22.configuration.reader import read_configuration


@contextmanager
def compilations() -> Iterator[list[str]]:
    """Collect the kind of each document that is compiled; the default provider is not one."""
    seen: list[str] = []

    def policy(document: Any) -> Any:
        if document:
            seen.append("Policy")
        return PolicyReader(document)

    def configuration(document: Any, *rest: Any) -> Any:
        seen.append("KubeSchedulerConfiguration")
        return read_configuration(document, *rest)

    with (
        patch("scheduler_core.schedulers.v1_11.policy.compiler.PolicyReader", policy),
        patch("scheduler_core.schedulers.v1_22.configuration.compiler.read_configuration", configuration),
    ):
        yield seen
