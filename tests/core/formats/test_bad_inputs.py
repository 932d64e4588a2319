"""The table of bad inputs, through the command line: status 2, file, line, path, and what would be right.

The cases are data: see ``bad_inputs/README.md``.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from scheduler_core.__main__ import main
from tests.rows import each_row

FOLDER = Path(__file__).parent / "bad_inputs"
MARK = "#!"
HOLE = "<>"
CLUSTER = "apiVersion: v1\nkind: Node\nmetadata: {name: a}\nstatus: {allocatable: {cpu: 1, pods: 1}}\n"


@dataclass(frozen=True)
class Case:
    """One bad input and what must be said of it; ``line`` is None where the input has no line to name."""

    name: str
    content: bytes
    line: int | None
    path: str
    says: str

    def reported(self, file: Path, *, after: int = 0) -> str:
        """Return how the message begins."""
        where = str(file) if self.line is None else f"{file}:{self.line + after}"
        return f"{where}: {self.path}: " if self.path else f"{where}: "


def read(row: dict[str, Any], frames: dict[str, dict[str, str]]) -> Case:
    """Make a case of a row."""
    under, text, line = "", row.get("text", ""), row.get("line")
    if "frame" in row:
        frame = frames[row["frame"]]
        under, text = frame.get("under", ""), frame["text"].replace(HOLE, row["put"])
        line = line or frame["text"][: frame["text"].index(HOLE)].count("\n") + 1
    if MARK in text:
        line = text[: text.index(MARK)].count("\n") + 1
    content = bytes.fromhex(row["bytes"]) if "bytes" in row else text.encode()
    path = under + row["path"] if "path" in row else ""
    assert line is not None, f"{row['case']}: which line?"
    return Case(row["case"], content, None if line == "none" else line, path, row["says"])


def cases(name: str) -> list[Case]:
    """Return a file's cases."""
    table = yaml.load((FOLDER / f"{name}.yaml").read_bytes(), yaml.CSafeLoader)
    rows = [read(row, table.get("frames", {})) for row in table["cases"]]
    assert len({row.name for row in rows}) == len(rows), "every case has a name of its own"
    return rows


MANIFESTS = [
    case
    for name in ("quantities", "selectors", "pods", "references", "structure", "imports")
    for case in cases(name)
]
POLICIES = [*cases("policies"), *cases("configurations")]


def check(
    case: Case, arguments: list[str], file: Path, reported: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Run ``simulate`` and see that it refuses the file as the case says."""
    assert main(["simulate", *arguments]) == 2
    printed = capsys.readouterr()
    assert not printed.out
    lines = printed.err.splitlines()
    assert any(line.startswith(reported) and case.says in line for line in lines), (
        f"{reported}… {case.says}\n{printed.err}"
    )
    assert all(line.startswith(str(file)) for line in lines)
    assert "Traceback" not in printed.err


@each_row("case", MANIFESTS, lambda case: case.name)
def test_a_bad_manifest_is_refused(case: Case, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit status 2, and a message that names file, line, path and what would be right."""
    file = tmp_path / "bad.input"
    file.write_bytes(case.content)
    check(case, [str(file)], file, case.reported(file), capsys)


@each_row("case", POLICIES, lambda case: case.name)
def test_a_bad_policy_is_refused_wherever_it_stands(
    case: Case, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A policy's or configuration's mistakes have their line in a file of ``--config`` and in a bundle."""
    cluster, file = tmp_path / "cluster.yaml", tmp_path / "policy.input"
    cluster.write_text(CLUSTER)
    file.write_bytes(case.content)
    check(case, [str(cluster), "--config", str(file)], file, case.reported(file), capsys)
    if not case.content.startswith(b"{\n"):  # JSON is no document of a stream of YAML
        bundle = tmp_path / "bundle.yaml"
        bundle.write_bytes(f"{CLUSTER}---\n".encode() + case.content)
        reported = case.reported(bundle, after=CLUSTER.count("\n") + 1)
        check(case, [str(bundle)], bundle, reported, capsys)


@each_row("case", cases("noteworthy"), lambda case: case.name)
def test_what_kubernetes_takes_is_warned_of_and_runs(
    case: Case, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the API server would accept, and is probably a mistake, is a warning on its line."""
    file = tmp_path / "odd.yaml"
    file.write_bytes(case.content)
    assert main(["simulate", str(file)]) == 0
    reported = capsys.readouterr().err.splitlines()
    assert any(line.startswith(case.reported(file)) and case.says in line for line in reported), reported


def test_the_warnings_of_a_policy_come_with_config_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A warning about a policy of ``--config`` names that file and its line."""
    cluster, policy = tmp_path / "cluster.yaml", tmp_path / "policy.yaml"
    cluster.write_text(CLUSTER)
    policy.write_text("kind: Policy\napiVersion: v1\npredicates:\n- {name: PodFitsPorts}\n")
    assert main(["simulate", str(cluster), "--config", str(policy)]) == 0
    reported = capsys.readouterr().err
    assert reported.startswith(f"{policy}:4: predicates[0]: PodFitsPorts is registered but never evaluated")


CONFIGURATIONS = {
    "manifests": (CLUSTER, "holds no configuration; a document of apiVersion v1 and kind Policy"),
    "an empty file": ("", "the input is empty"),
    "prose": ("hello\n", "a manifest must be an object"),
    "a list": ("[1]\n", "a manifest must be an object"),
}


@pytest.mark.parametrize("content", CONFIGURATIONS)
def test_a_configuration_that_is_none_is_refused(
    content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """``--config`` with a file that holds no policy says so, with the file's name."""
    cluster, file = tmp_path / "cluster.yaml", tmp_path / "config.yaml"
    cluster.write_text(CLUSTER)
    text, says = CONFIGURATIONS[content]
    file.write_text(text)
    assert main(["simulate", str(cluster), "--config", str(file)]) == 2
    reported = capsys.readouterr().err
    assert reported.startswith(str(file)) and says in reported


@pytest.mark.parametrize("case", [*POLICIES[:1], *MANIFESTS[:1], *MANIFESTS[-2:]])
def test_the_process_itself_ends_with_two(case: Case, tmp_path: Path) -> None:
    """The command, started as users start it, prints one message on standard error and exits with 2."""
    file = tmp_path / "bad.input"
    file.write_bytes(case.content)
    done = subprocess.run(
        [sys.executable, "-m", "scheduler_core", "simulate", str(file)],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert done.stderr.startswith(case.reported(file)) and case.says in done.stderr
    assert "Traceback" not in done.stderr
    assert not done.stdout


def test_the_table_is_as_long_as_it_was() -> None:
    """Cases are not lost: the table has those of policies, quantities, selectors and references, and more."""
    assert len(POLICIES) >= 70
    assert len(MANIFESTS) >= 180
