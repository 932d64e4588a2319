"""``bench --scheduler v1.37``: its figures, and what it refuses."""

from __future__ import annotations

import json

import pytest

from scheduler_core.__main__ import main

SMALL = ["bench", "--scheduler", "v1.37", "--nodes", "100", "--pods", "400"]


@pytest.mark.parametrize("trace", ["off", "full"])
def test_it_places_as_the_original_and_prints_its_figures(
    trace: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The last line has rate, cycles and the digest of the real placements, with arrays kept or not."""
    assert main([*SMALL, "--shape", "spread", "--trace", trace]) == 0
    figures = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert figures["placements_sha256"].startswith("7326e6b1b5d2dc11")
    assert figures["cycles"] == figures["placed"] == 400
    assert figures["pods_per_second"] > 0
    assert figures["seconds"] > 0


@pytest.mark.parametrize(("options", "reason"), [
    ([*SMALL, "--shape", "pod-affinity"], "pod-affinity is not measured"),
    ([*SMALL, "--shape", "plain", "--cache", "sound"], "belongs to v1.11"),
    (["bench", "--nodes", "3", "--pods", "3", "--shape", "spread"], "is for --scheduler v1.37"),
])  # fmt: skip
def test_it_refuses_what_the_scheduler_has_not(
    options: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A shape or an option of the other scheduler ends with exit status 2 and says why."""
    assert main(options) == 2
    assert reason in capsys.readouterr().err
