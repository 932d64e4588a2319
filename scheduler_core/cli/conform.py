"""``conform``: decide recorded clusters and print the decisions in the records' own format."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NoReturn

from msgspec.structs import replace

from scheduler_core.cli.cache_options import add_cache_arguments, with_cache
from scheduler_core.run.instant import Simulation
from scheduler_core.run.trace import conformance_cycle
from scheduler_core.scenario.load import load_documents
from scheduler_core.schedulers.v1_22.configuration.profiles import compile_profile
from scheduler_core.settings.release import BY_PLUGINS, CACHING
from scheduler_core.settings.settings import DEFAULT_SETTINGS, Settings

MAX_LINE = 64 * 1024 * 1024  # characters of one record

RecordAnswer = Callable[[Mapping[str, Any]], dict[str, Any]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_cache_arguments(parser)
    parser.add_argument(
        "--system",
        choices=SYSTEMS,
        default="kube-scheduler",
        help="whose records these are; default: kube-scheduler",
    )
    parser.set_defaults(run=run)


def conform_records(
    lines: Iterable[str], settings: Settings = DEFAULT_SETTINGS, *, system: str = "kube-scheduler"
) -> Iterator[dict[str, Any]]:
    """Yield ``{"id", "expect"}`` for each record, or ``{"id", "error"}`` if it cannot be answered."""
    answer = SYSTEMS[system](settings)
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield _answer(line, number, answer)


def _answer(line: str, number: int, answer: RecordAnswer) -> dict[str, Any]:
    record: Any = None
    try:
        record = _parse(line, number)
        return answer(record)
    except Exception as error:  # a failing record must not stop the others
        identity = record.get("id") if record is not None else None
        return {"id": identity, "error": str(error) or type(error).__name__}


def _parse(line: str, number: int) -> Mapping[str, Any]:
    if len(line) > MAX_LINE:
        raise ValueError(f"line {number} is longer than {MAX_LINE} characters")
    record = json.loads(line, parse_constant=_no_constant)
    if not isinstance(record, Mapping):
        raise TypeError(f"line {number} must be a JSON object")
    return record


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no JSON")


def decide(record: Mapping[str, Any], settings: Settings = DEFAULT_SETTINGS) -> dict[str, Any]:
    """Run one record to its end and return ``{"id", "expect"}``.

    Raises:
        BundleError: The objects cannot be parsed.
        PolicyError: The policy cannot be used.
    """
    objects = record.get("objects")
    if not isinstance(objects, list) or not all(isinstance(obj, Mapping) for obj in objects):
        raise ValueError("objects must be a list of manifests")
    policy = record.get("policy")
    if policy is not None and not isinstance(policy, Mapping):
        raise ValueError("policy must be null or a Policy object")
    compile_profile(policy, settings)
    scenario = load_documents(objects, expand=False, admission=False, scheduler=CACHING)
    simulation = Simulation(
        replace(scenario, policy=policy, settings=settings), unabridged=True, quirk_effects=False
    )
    cycles = [conformance_cycle(cycle) for cycle in simulation]
    bound = {d.pod: d.node for d in simulation.decisions if d.result == "scheduled"}
    pending = [key for key, node in simulation.placement().items() if not node]
    final = {"bound": bound, "pending": pending, "deleted": simulation.deleted}
    return {"id": record.get("id"), "expect": {"cycles": cycles, "final": final}}


def _kube_scheduler(settings: Settings) -> RecordAnswer:
    return lambda record: decide(record, settings)


def _coscheduling(settings: Settings) -> RecordAnswer:
    from scheduler_core.cli.coscheduling_records import answer

    del settings  # the equivalence cache belongs to kube-scheduler v1.11
    return answer


def _by_plugins(release: str, settings: Settings) -> RecordAnswer:
    from scheduler_core.schedulers.v1_37.records import answer
    from scheduler_core.schedulers.v1_37.releases import DIALECTS

    del settings  # the equivalence cache belongs to kube-scheduler v1.11
    return partial(answer, dialect=DIALECTS[release])


def _life_v1_37(settings: Settings) -> RecordAnswer:
    from scheduler_core.run.living.records import answer

    del settings
    return answer


def _kube_batch(settings: Settings) -> RecordAnswer:
    from scheduler_core.schedulers.kube_batch.conformance import answer

    del settings
    return answer


def _firmament(settings: Settings) -> RecordAnswer:
    from scheduler_core.schedulers.firmament.conformance import answer

    del settings
    return answer


def _descheduler(settings: Settings) -> RecordAnswer:
    from scheduler_core.cluster.descheduler.conformance import answer

    del settings
    return answer


def _kueue(settings: Settings) -> RecordAnswer:
    from scheduler_core.run.living.queue_records import answer

    del settings
    return answer


SYSTEMS: Mapping[str, Callable[[Settings], RecordAnswer]] = {
    "kube-scheduler": _kube_scheduler,
    "coscheduling": _coscheduling,
    **{release: partial(_by_plugins, release) for release in BY_PLUGINS},
    "v1.37-life": _life_v1_37,
    "v1.37-life-dump": _life_v1_37,
    "kube-batch": _kube_batch,
    "firmament": _firmament,
    "descheduler": _descheduler,
    "kueue": _kueue,
}
"""The function that answers each system's records."""


def run(options: argparse.Namespace) -> int:
    """Answer every record of standard input, one line each, in order; return the exit status."""
    settings = with_cache(DEFAULT_SETTINGS, options)
    for answer in conform_records(sys.stdin, settings, system=options.system):
        print(json.dumps(answer, separators=(",", ":")), flush=True)
    return 0
