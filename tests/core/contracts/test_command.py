"""``podstep check``: exit codes and the documents that other programs read."""

from __future__ import annotations

import json
import time
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from scheduler_core import load
from scheduler_core.__main__ import main
from tests.core.contracts.clusters import bundle, nodes, template
from tests.core.contracts.ready import CASES

ZONE = next(case for case in CASES if case.name == "zone-loss")


@pytest.fixture
def clusters(tmp_path: Path) -> tuple[str, str]:
    """Files of a cluster that satisfies zone-loss, and of one that does not."""
    places = (tmp_path / "satisfied.yaml", tmp_path / "violated.yaml")
    for place, text in zip(places, (ZONE.satisfied, ZONE.violated)):
        place.write_text(text)
    return str(places[0]), str(places[1])


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Run the command; return its exit code, its output and its errors."""
    code = main(["check", *arguments])
    return code, *capsys.readouterr()


def test_check_ends_with_what_it_found(capsys: pytest.CaptureFixture[str], clusters: tuple[str, str]) -> None:
    """0 where all contracts hold, 1 where one is violated, 2 for one that cannot be read."""
    good, bad = clusters
    code, out, _ = run(capsys, good, "--contracts", "zone-loss")
    assert code == 0 and "zone-loss: holds (all 3 cases" in out
    code, out, _ = run(capsys, bad, "--contracts", "zone-loss")
    assert code == 1 and "violated: lose zone a: ready = 0 for Deployment default/web" in out
    code, _, said = run(capsys, good, "--contracts", bad)
    assert code == 2 and "violated.yaml" in said


def test_check_writes_for_other_programs(
    capsys: pytest.CaptureFixture[str], clusters: tuple[str, str]
) -> None:
    """JSON, JUnit, SARIF with rule, line and fingerprint, and a table of Markdown."""
    given = (clusters[1], "--contracts", "zone-loss", "--output")
    (verdict,) = json.loads(run(capsys, *given, "json")[1])["verdicts"]
    assert verdict["verdict"] == "violated" and verdict["counterexample"]["shrunk"]["replicas"] == 1
    suite = ET.fromstring(run(capsys, *given, "junit")[1].partition("\n")[2])
    assert suite.get("failures") == "1" and suite.find("testcase/failure") is not None
    (made,) = json.loads(run(capsys, *given, "sarif")[1])["runs"]
    (result,) = made["results"]
    place = result["locations"][0]["physicalLocation"]
    assert result["ruleId"] == made["tool"]["driver"]["rules"][0]["id"] == "contract/zone-loss"
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("zone-loss.yaml", 4)
    assert (
        json.loads(run(capsys, *given, "sarif")[1])["runs"][0]["results"][0]["partialFingerprints"]
        == (result["partialFingerprints"])
    )
    assert "| ✗ | zone-loss | violated:" in run(capsys, *given, "markdown")[1]


def test_check_saves_counterexamples(
    capsys: pytest.CaptureFixture[str], clusters: tuple[str, str], tmp_path: Path
) -> None:
    """Each as a bundle with the operations of its case, and its run as a file that steps."""
    run(capsys, clusters[1], "--contracts", "zone-loss", "--save", str(tmp_path / "found"), "--html")
    assert "<template data-record>" in (tmp_path / "found" / "zone-loss.html").read_text()
    saved = load((tmp_path / "found" / "zone-loss.yaml").read_text())
    assert saved.operations


def test_two_processes_find_what_one_does(
    capsys: pytest.CaptureFixture[str], clusters: tuple[str, str]
) -> None:
    """The verdict is the same."""
    one = run(capsys, clusters[0], "--contracts", "zone-loss")[1].partition("\n")[0]
    assert run(capsys, clusters[0], "--contracts", "zone-loss", "--processes", "2")[1].startswith(one)


def test_a_case_ends_with_the_seconds(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A day in which a CronJob begins a Job a minute is not played to its end within a second."""
    pod = template("a", "8", restartPolicy="Never")
    spec = {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": pod}}}
    cron = {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "tick"}, "spec": spec}
    (tmp_path / "cluster.yaml").write_text(bundle(nodes("a"), cron))
    (tmp_path / "one.yaml").write_text(
        "apiVersion: podstep/v1\nkind: Contract\nmetadata: {name: one}\n"
        "spec: {within: 24h, when: [{drain: n1}], always: ready >= 0}"
    )
    began = time.process_time()
    given = (str(tmp_path / "cluster.yaml"), "--contracts", str(tmp_path / "one.yaml"), "--seconds", "1")
    code, out, _ = run(capsys, *given)
    assert code == 1 and "cannot say: no case ends within 1 s" in out and time.process_time() - began < 10
