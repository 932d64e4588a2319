"""`podstep review`, and the GitHub Action and GitLab template that run it on a pull request."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import scheduler_core
from scheduler_core.__main__ import main
from tests.core.cli.test_commands import CLUSTER
from tests.parts import REPOSITORY

NODES = CLUSTER.partition("---\nkind: Deployment")[0]
DEPLOYMENT = f"kind: Deployment{CLUSTER.partition('kind: Deployment')[2]}"
TOO_LARGE = DEPLOYMENT.replace("1500m", "9").replace("name: web", "name: large")
CONTRACT = """\
apiVersion: podstep/v1
kind: Contract
metadata: {name: stays-ready}
spec:
  for: {kind: Deployment, name: web}
  when: [{lose: {any: Node}}]
  within: 10m
  always: ready >= 1
"""
ACTION: dict[str, Any] = yaml.safe_load((REPOSITORY / "action.yml").read_text(encoding="utf-8"))
GITLAB: dict[str, Any] = yaml.safe_load((REPOSITORY / ".ci/gitlab.yml").read_text(encoding="utf-8"))
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]


@pytest.fixture
def branch(tmp_path: Path) -> Path:
    """A checkout with a snapshot, and manifests that fit and that do not."""
    (tmp_path / "cluster.yaml").write_text(CLUSTER)
    (tmp_path / "fits.yaml").write_text(
        DEPLOYMENT.replace("name: web", "name: small").replace("1500m", "100m")
    )
    (tmp_path / "large.yaml").write_text(TOO_LARGE)
    return tmp_path


def review(branch: Path, *files: str, **options: str) -> tuple[int, str]:
    """Review files; returns the exit code and the comment."""
    given = [f"--{name}={branch / value}" for name, value in options.items()]
    code = main(
        ["review", *(str(branch / file) for file in files), *given, "--into", str(branch), "--no-html"]
    )
    return code, (branch / "comment.md").read_text() if code != 2 else ""


def test_a_branch_is_answered_for_the_risks_that_it_adds(branch: Path) -> None:
    """A pod that fits nowhere is a new risk; what was at risk before does not fail the branch."""
    code, comment = review(branch, "large.yaml", snapshot="cluster.yaml")
    assert code == 1
    new = comment.partition("### Risks that were there before")[0].count("- **")
    headline = f"## podstep: no contract is violated, {new} new risks"
    assert comment.splitlines()[:2] == ["<!-- podstep -->", headline]
    assert "Insufficient cpu" in comment
    (branch / "cluster.yaml").write_text(f"{CLUSTER}---\n{TOO_LARGE}")
    code, comment = review(branch, "fits.yaml", snapshot="cluster.yaml")
    assert code == 0
    assert "### Risks that were there before" in comment


def test_a_violated_contract_fails_the_branch(branch: Path) -> None:
    """It is in the comment, and in SARIF with the line of the contract."""
    (branch / "contract.yaml").write_text(CONTRACT)
    code, comment = review(branch, "fits.yaml", snapshot="cluster.yaml", contracts="contract.yaml")
    assert (code, comment.splitlines()[1]) == (1, "## podstep: a contract is violated, no new risk")
    assert "stays-ready | violated" in comment
    (result,) = json.loads((branch / "podstep.sarif").read_text())["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert Path(place["artifactLocation"]["uri"]).name == "contract.yaml"
    assert place["region"]["startLine"] == 3


def test_a_branch_is_reviewed_where_its_run_is_no_file(branch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the bounds of a file, or without the workbench: the comment says why nothing is attached."""
    monkeypatch.setitem(sys.modules, "playground.recordings.command", None)
    files = ("fits.yaml", f"--snapshot={branch / 'cluster.yaml'}", f"--into={branch}")
    assert main(["review", str(branch / files[0]), *files[1:]]) == 0
    assert "The run is not attached: an HTML file needs" in (branch / "comment.md").read_text()


def test_bad_manifests_are_bad_input(branch: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Their line is on standard error, and nothing is commented on."""
    (branch / "fits.yaml").write_text("kind: Pod\nmetadata: {name: [}\n")
    assert review(branch, "fits.yaml", snapshot="cluster.yaml") == (2, "")
    assert "fits.yaml:2" in capsys.readouterr().err


def _programs(folder: Path) -> Path:
    """Make stand-ins: podstep as pipx runs it, and a gh that notes how it is called."""
    programs = folder / "programs"
    programs.mkdir()
    podstep = f'cd {folder} && PYTHONPATH={REPOSITORY} exec {sys.executable} -m scheduler_core "$@"\n'
    for name, body in {
        "pipx": f'echo "$1 $2 $3" >> {folder}/called; shift 4; {podstep}',
        "podstep": podstep,
        "gh": f'echo "$@" >> {folder}/called\n',
    }.items():
        (programs / name).write_text(f"#!/bin/bash\n{body}")
        (programs / name).chmod(0o700)
    return programs


def _shell(script: str, branch: Path, **variables: str) -> int:
    env = {"PATH": f"{branch / 'programs'}:/usr/bin:/bin", "HOME": str(branch), **variables}
    return subprocess.run(
        ["bash", "-e", "-c", script], cwd=branch, env=env, check=False, timeout=60
    ).returncode


def test_the_action_reviews_and_comments(branch: Path) -> None:
    """Its scripts review with the snapshot, attach the runs, keep the exit code, and post one comment."""
    _programs(branch)
    given = {name: str(one.get("default", "")) for name, one in ACTION["inputs"].items()}
    (branch / "contract.yaml").write_text(CONTRACT)
    given |= {"manifests": "fits.yaml large.yaml", "snapshot": "cluster.yaml", "contracts": "contract.yaml"}
    files = {name: str(branch / name.lower()) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    variables = {name: given[value[len("${{ inputs.") : -3]] for name, value in STEPS[0]["env"].items()}
    assert _shell(STEPS[0]["run"], branch, RUNNER_TEMP=str(branch), **files, **variables) == 0
    outputs = dict(line.split("=") for line in Path(files["GITHUB_OUTPUT"]).read_text().splitlines())
    assert outputs == {"code": "1", "folder": f"{branch}/podstep"}
    assert "Insufficient cpu" in Path(files["GITHUB_STEP_SUMMARY"]).read_text()
    context = {"GITHUB_REPOSITORY": "o/r", "NUMBER": "7", "FOLDER": outputs["folder"]}
    assert _shell(STEPS[1]["run"], branch, **context) == 0
    called = (branch / "called").read_text().splitlines()
    assert called[0] == f"run --spec podstep=={scheduler_core.__version__}"
    held = {str(path.relative_to(branch / "podstep")) for path in (branch / "podstep").rglob("*.*")}
    runs = {"podstep.html", "counterexamples/stays-ready.html"}
    assert held == {"comment.md", "podstep.sarif", "counterexamples/stays-ready.yaml", *runs}
    assert called[2].startswith("api --method POST repos/o/r/issues/7/comments")
    assert _shell(STEPS[-1]["run"], branch, CODE=outputs["code"]) == 1


def test_no_input_is_part_of_a_script() -> None:
    """What a pull request can choose reaches a shell as a variable: it is never executed."""
    scripts = [step["run"] for step in STEPS if "run" in step]
    assert scripts
    assert not [script for script in scripts if "${{" in script]
    uses = [step["uses"] for step in STEPS if "uses" in step]
    assert all(re.fullmatch(r"(actions|github)/[\w/-]+@v\d+", one) for one in uses)


def test_the_template_reviews_merge_requests(branch: Path) -> None:
    """GitLab's job reviews the same, keeps the files and ends with the exit code."""
    _programs(branch)
    job = GITLAB[".podstep"]
    variables = {**job["variables"], "MANIFESTS": "large.yaml", "SNAPSHOT": "cluster.yaml"}
    script = job["script"][0].replace("--into podstep", "--into podstep --no-html")
    assert _shell(script, branch, **variables) == 1
    assert (branch / job["artifacts"]["paths"][0] / "comment.md").is_file()
    assert job["variables"]["PACKAGE"] == f"podstep=={scheduler_core.__version__}"
