"""What a command imports: a run of one release is without the others, and without what nobody asks for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.parts import REPOSITORY

BUNDLE = """\
kind: Node
apiVersion: v1
metadata: {name: n1}
status: {allocatable: {cpu: "4", memory: 32Gi, pods: "110"}}
---
kind: Pod
apiVersion: v1
metadata: {name: web}
spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 100m}}}]}
"""
REPORT = """\
import sys
from scheduler_core.__main__ import main
status = main(sys.argv[1:])
print(*sorted(sys.modules), file=sys.stderr)
"""
SCHEDULERS = "scheduler_core.schedulers."
OTHERS = (
    *("ortools", "re2", "networkx"),
    *("scheduler_core.explain", "scheduler_core.compare", "scheduler_core.run.several"),
    *("scheduler_core.cluster.descheduler", "scheduler_core.cluster.v1_37.plane"),
    *(f"{SCHEDULERS}firmament.scheduler", f"{SCHEDULERS}kube_batch.scheduler"),
    *(f"{SCHEDULERS}v1_22.scheduler", f"{SCHEDULERS}v1_22.plugins", f"{SCHEDULERS}coscheduling.plugin"),
)
"""Of which a plain run of v1.37 has none."""
V1_11 = tuple(f"{SCHEDULERS}v1_11.{name}" for name in ("attempt", "equivalence", "predicates", "priorities"))
MOST_MODULES = 630


def imported(*arguments: str) -> list[str]:
    """Run a command in a process of its own; return the modules that it has at its end."""
    command = [sys.executable, "-c", REPORT, *arguments]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True, timeout=60)
    return done.stderr.splitlines()[-1].split()


def found_in(modules: list[str], names: tuple[str, ...]) -> list[str]:
    """Return the modules with one of these names, or below one."""
    return [one for one in modules if any(one == name or one.startswith(f"{name}.") for name in names)]


def test_a_plain_run_of_v1_37_imports_no_other_scheduler(tmp_path: Path) -> None:
    """`simulate` has the modules of its own release, and nothing that takes long to import."""
    file = tmp_path / "bundle.yaml"
    file.write_text(BUNDLE)
    modules = imported("simulate", str(file))
    assert found_in(modules, (*OTHERS, *V1_11)) == []
    assert len(modules) < MOST_MODULES, len(modules)


def test_an_answer_of_v1_37_imports_no_other_scheduler(tmp_path: Path) -> None:
    """`explain` has what describes rules, of v1.11 too, and no other scheduler that could run."""
    file = tmp_path / "bundle.yaml"
    file.write_text(BUNDLE)
    modules = imported("explain", str(file), "--pod", "web")
    runs = tuple(f"scheduler_core.run.{name}" for name in ("instant", "simulation", "several", "trace"))
    assert found_in(modules, (*(name for name in OTHERS if name != "scheduler_core.explain"), *runs)) == []


def test_a_command_is_described_without_the_others(tmp_path: Path) -> None:
    """The options of one command are read without importing what another one needs."""
    modules = imported("simulate", str(tmp_path / "missing.yaml"))
    others = ("scheduler_core.cli.optimum", "scheduler_core.cli.compare", "scheduler_core.compare")
    assert found_in(modules, others) == []


def test_a_server_has_every_simulation_before_its_first_request() -> None:
    """After `preload` a run of any release imports no other module of the runs."""
    code = """
import sys
from scheduler_core import load, simulate
from scheduler_core.run.table import SIMULATIONS, preload

preload()
text = sys.stdin.read() + "---\\nkind: SimulationSettings\\napiVersion: podstep/v1\\nscheduler: "
before = set(sys.modules)
for release in SIMULATIONS:
    assert len(list(simulate(load(text + release)))) == 1
print(*sorted(set(sys.modules) - before))
"""
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, cwd=REPOSITORY, input=BUNDLE, capture_output=True, text=True, check=True, timeout=60
    )
    assert found_in(done.stdout.split(), ("scheduler_core.run",)) == []
