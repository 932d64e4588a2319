"""Directories as ``FILE`` of the command line: sorted, by content, bounded, nothing from outside."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import yaml

from scheduler_core.__main__ import main
from scheduler_core.cli.directories import read_directory
from scheduler_core.formats.limits import FormatError, Limits
from tests.core.formats.archives import CHART, NODE, POD, VALUES, zipped


def write(top: Path, files: dict[str, str]) -> Path:
    """Write files below a directory."""
    for name, text in files.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)
    return top


def read(top: Path, **bounds: int) -> list[str]:
    """Return the paths of what is read of a directory."""
    return [path for path, _ in read_directory(str(top), Limits(**bounds)).files]


def test_a_directory_is_read_below_and_in_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Pods are created in the order of their files' paths, and what is no manifest is named."""
    write(
        tmp_path / "k8s",
        {
            "b/pod.yaml": POD.replace("web", "second"),
            "a.yaml": POD.replace("web", "first"),
            "c.json": json.dumps(yaml.safe_load(POD.replace("web", "third"))),
            "Chart.yaml": CHART,
            "values.yaml": VALUES,
            "notes.txt": "Remember the milk\n",
            ".hidden/pod.yaml": POD.replace("web", "hidden"),
        },
    )
    write(tmp_path, {"node.yaml": NODE})
    assert main(["simulate", str(tmp_path / "k8s"), str(tmp_path / "node.yaml")]) == 0
    printed = capsys.readouterr()
    assert [line.split()[0] for line in printed.out.splitlines()[:-1]] == [
        f"default/{name}" for name in ("first", "second", "third")
    ]
    assert (
        f"{tmp_path}/k8s: 3 files (Chart.yaml, notes.txt, values.yaml) are left out: no manifest found"
        in printed.err
    )


def test_a_problem_in_a_directory_names_the_file_and_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message begins with a path that an editor opens."""
    write(tmp_path, {"a/bad.yaml": POD.replace("containers", "containrs")})
    assert main(["simulate", str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith(f"{tmp_path}/a/bad.yaml:4: spec.containers: ")


def test_links_lead_nowhere_else(tmp_path: Path) -> None:
    """A mounted ConfigMap's links are followed, each file once; those out of it, and loops, are not."""
    outside = write(tmp_path / "outside", {"secret.yaml": POD})
    top = write(tmp_path / "mounted", {"..data_1/node.yaml": NODE, "pod.yaml": POD})
    (top / "..data").symlink_to("..data_1")
    (top / "node.yaml").symlink_to("..data/node.yaml")
    (top / "again.yaml").symlink_to("pod.yaml")
    (top / "file.yaml").symlink_to(outside / "secret.yaml")
    (top / "directory").symlink_to(outside)
    (top / "loop").symlink_to(".")
    (top / "broken.yaml").symlink_to("nothing.yaml")
    os.mkfifo(top / "pipe.yaml")
    folder = read_directory(str(top), Limits())
    assert [path for path, _ in folder.files] == ["again.yaml", "node.yaml"]
    left = dict(folder.left)
    assert {"file.yaml", "directory", "loop", "broken.yaml"} == {
        p for p, why in left.items() if "link" in why
    }
    assert "pipe" in left["pipe.yaml"]


def test_a_directory_is_bounded(tmp_path: Path) -> None:
    """Too many files, bytes and levels are errors with a remedy; bytes of other files do not count."""
    top = write(tmp_path, {"a/b/c/node.yaml": NODE, "pod.yaml": POD + "#" * 500, "trace.bin": "x" * 100_000})
    assert read(top) == ["a/b/c/node.yaml", "pod.yaml"]
    assert read(top, size=2_000) == ["a/b/c/node.yaml", "pod.yaml"]
    for bounds, says in (
        ({"size": 500}, "all files of the directory together are larger than"),
        ({"entries": 3}, "more than 3 files and directories below it: pass a subdirectory"),
        ({"levels": 2}, "nested deeper than 2 levels: pass a subdirectory"),
    ):
        with pytest.raises(FormatError, match=says):
            read(top, **bounds)


def test_an_archive_in_a_directory_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An archive below a directory is left out with what to do; as a file of its own it is read."""
    write(tmp_path, {"node.yaml": NODE})
    (tmp_path / "pods.zip").write_bytes(zipped({"pod.yaml": POD}))
    assert main(["simulate", str(tmp_path)]) == 0
    assert "pods.zip is left out: a nested archive: pass it as a separate file" in capsys.readouterr().err
    assert main(["simulate", str(tmp_path), str(tmp_path / "pods.zip")]) == 0
    assert "default/web  placed" in capsys.readouterr().out


def test_a_chart_that_nobody_rendered_is_one_problem(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """However many templates a chart has, it is one error, with the command that renders it."""
    template = POD.replace("name: web", "name: {{ .Release.Name }}-web")
    names = ("deployment", "service", "tests/test-connection")
    write(tmp_path, {"Chart.yaml": CHART, "values.yaml": VALUES})
    write(tmp_path, {f"templates/{name}.yaml": "{{- if .Values.on }}\n" + template for name in names})
    write(tmp_path, {"templates/_helpers.tpl": '{{- define "name" -}}\nweb\n{{- end }}\n'})
    assert main(["simulate", str(tmp_path)]) == 2
    [reported] = capsys.readouterr().err.splitlines()
    assert reported == (
        f"{tmp_path}/templates/deployment.yaml:1: this is a Helm template, not a manifest (and 2 more files "
        f"of the chart): pass the output of `helm template {tmp_path}`"
    )


@pytest.mark.parametrize("command", ["explain", "compare", "cost", "export"])
def test_every_command_takes_directories(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What simulate reads, the others read."""
    write(tmp_path, {"node.yaml": NODE, "pod.yaml": POD})
    more = {
        "explain": ["--pod", "default/web"],
        "compare": ["--cache", "off", "--cache", "sound"],
        "cost": [],
        "export": ["--format", "manifests"],
    }
    assert main([command, str(tmp_path), *more[command]]) == 0
    assert capsys.readouterr().out


def test_the_trace_is_not_written_over_a_file_of_the_directory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A trace may be written into the directory, not over a manifest in it."""
    write(tmp_path, {"node.yaml": NODE, "pod.yaml": POD})
    assert main(["simulate", str(tmp_path), "--trace", str(tmp_path / "pod.yaml")]) == 2
    assert "pod.yaml is also an input file; write the trace to another file" in capsys.readouterr().err
    for _ in range(2):
        assert main(["simulate", str(tmp_path), "--trace", str(tmp_path / "trace.jsonl")]) == 0
