"""What every test has: recordings, services, and the rule that CI skips nothing for want of a part."""

from __future__ import annotations

import gc
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from playground.runtime.garbage import paused
from tests import rows
from tests.parts import IN_CI, NO_SHARED, SHARED
from tests.services.fixtures import postgres, redis, stack, stacks

__all__ = ["postgres", "redis", "stack", "stacks"]

#: For the format of IRIs, which no schema here asks for, jsonschema builds grammars: a second in a process.
sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]


@pytest.fixture(scope="session")
def shared_folder() -> Path:
    """The folder of recorded clusters and decisions."""
    if not SHARED.is_dir():
        pytest.skip(f"{NO_SHARED}: {SHARED}")
    return SHARED


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    """Keep the tests and what they import from garbage collections, which took longer than reading them."""
    with paused():
        found = yield
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)  # tests make little garbage that needs collecting, and many objects
    return found


def pytest_addoption(parser: pytest.Parser) -> None:
    """Offer what `make test-quick` asks for."""
    parser.addoption("--one-row", action="store_true", help="one row of each table of cases, by the seed")


def pytest_configure(config: pytest.Config) -> None:
    """Let tables that are one test try one row where asked."""
    rows.only_one = config.getoption("--one-row")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Refuse a test that does not say in a sentence what it shows; keep one row of each table where asked."""
    silent = [
        item.nodeid for item in items if isinstance(item, pytest.Function) and not item.function.__doc__
    ]
    if silent:
        raise pytest.UsageError("without a docstring: " + ", ".join(silent))
    if config.getoption("--one-row"):
        items[:] = {item.nodeid.partition("[")[0]: item for item in items}.values()


def _fail_if_skipped(report: Any) -> None:
    if not IN_CI or not report.skipped or hasattr(report, "wasxfail"):
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    if NO_SHARED in reason and not SHARED.is_dir():
        return
    report.outcome = "failed"
    report.longrepr = f"{report.nodeid}: {reason}\nUnder CI=true a skipped test is a failure."


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    """Turn a skipped test into a failed one under CI=true."""
    report = yield
    _fail_if_skipped(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, Any, Any]:
    """Turn a skipped file into a failed one under CI=true."""
    report = yield
    _fail_if_skipped(report)
    return report
