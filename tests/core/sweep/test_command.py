"""``sweep`` on the command line: its table, its JSON, and the line of an error."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scheduler_core.__main__ import main
from tests.core.sweep.conftest import NODE, POD

GRID = "grid:\n  arrival: [largest-first, smallest-first]\n  cache: [off, sound]\n"


@pytest.fixture
def bundle(tmp_path: Path) -> str:
    """A node of four cpus, and pods of five."""
    pods = [POD.format(name=name, cpu=cpu) for name, cpu in (("small", 1), ("middle", 2), ("large", 2))]
    file = tmp_path / "bundle.yaml"
    file.write_text("---".join([NODE.format(number=1), *pods]), encoding="utf-8")
    return str(file)


def grid(tmp_path: Path, text: str) -> str:
    """Write a grid to a file."""
    file = tmp_path / "grid.yaml"
    file.write_text(text, encoding="utf-8")
    return str(file)


@pytest.mark.parametrize("processes", ["1", "2"])
def test_cells_are_printed_in_order(
    bundle: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], processes: str
) -> None:
    """Whichever processes run them; an unquoted off is a mode of the cache."""
    assert main(["sweep", bundle, grid(tmp_path, GRID), "--processes", processes, "--output", "json"]) == 0
    cells = json.loads(capsys.readouterr().out)["cells"]
    assert [cell["values"] for cell in cells] == [
        {"cache": cache, "arrival": order}
        for cache in ("off", "sound")
        for order in ("largest-first", "smallest-first")
    ]
    assert [cell["metrics"]["placed"] for cell in cells] == [2, 2, 2, 2]


def test_table_has_a_row_for_each_cell(
    bundle: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its head names the axes and the figures."""
    assert main(["sweep", bundle, grid(tmp_path, GRID), "--processes", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:4] == ["cache", "arrival", "placed", "pending"]
    assert [line.split()[0] for line in lines[1:5]] == ["off", "off", "sound", "sound"]


def test_halving_prints_a_table_for_each_rung(
    bundle: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Half of the four cells run again, with all pods."""
    text = f"{GRID}halving: {{arrivals: [0.5, 1], by: [placed, nodesUsed]}}\n"
    assert main(["sweep", bundle, grid(tmp_path, text), "--processes", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith("Rung")] == [
        "Rung 1, arrivals 0.5: 4 cells",
        "Rung 2, arrivals 1: 2 cells",
    ]


def test_distance_from_the_optimum_is_a_column(
    bundle: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two of the three pods fit, whichever come first: the scheduler can do no better."""
    assert main(["sweep", bundle, grid(tmp_path, "seed: [0]\n"), "--processes", "1", "--optimum", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[-1] == "optimum"
    assert "optimal: 2 on 1 nodes" in lines[1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("grid:\n  seed: [1]\n  nodes: [0]\n", ":3: grid.nodes[0]: must be a whole number"),
        ("seed: [1]\nnodes: [0]\n", ":2: nodes[0]: must be a whole number"),
        ("seed: [1\n", ":2: "),
        ("a: [1]\n---\nb: [1]\n", ":2: more than 1 documents"),
        ("# nothing\n", ": is empty: a grid is expected"),
    ],
)
def test_an_error_names_its_line(
    bundle: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    """Exit status 2, and the place in the grid's file."""
    assert main(["sweep", bundle, grid(tmp_path, text)]) == 2
    assert message in capsys.readouterr().err
