"""The one command line: its table of commands, the formats of an answer, exit codes and completion."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from scheduler_core.__main__ import main
from scheduler_core.cli.commands import COMMANDS, EXIT_CODES, available, parser
from scheduler_core.cli.output import counted_on_terminal, write_answer
from tests.parts import REPOSITORY

CLUSTER = """\
kind: Node
apiVersion: v1
metadata: {name: n1}
status: {allocatable: {cpu: "4", memory: 32Gi, pods: "110"}}
---
kind: Node
apiVersion: v1
metadata: {name: n2}
status: {allocatable: {cpu: "1", memory: 32Gi, pods: "110"}}
---
kind: Deployment
apiVersion: apps/v1
metadata: {name: web, namespace: default}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 1500m}}}]}
"""
WITHOUT_ANSWER = {"serve", "mcp", "review", "export", "conform", "bench", "completion"}
WITH_OUTPUT = [command.name for command in COMMANDS if command.name not in WITHOUT_ANSWER]


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def cluster(tmp_path: Path) -> str:
    file = tmp_path / "cluster.yaml"
    file.write_text(CLUSTER)
    return str(file)


def test_help_imports_no_command() -> None:
    """`podstep --help` lists every command, and has none of their modules, nor NumPy."""
    script = (
        "import sys\ntry:\n from scheduler_core.__main__ import main; main()\nfinally: print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, "--help"], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    assert all(f"\n    {command.name}" in done.stdout for command in COMMANDS)
    modules = done.stdout.splitlines()[-1].split()
    assert "numpy" not in modules
    assert not {command.module for command in COMMANDS} & set(modules)


@pytest.mark.parametrize("name", WITH_OUTPUT)
def test_every_command_has_the_formats(name: str) -> None:
    """`--output` takes text, JSON and Markdown wherever a command answers a question."""
    described = parser([name])._subparsers._group_actions[0].choices[name]  # type: ignore[index]
    formats = next(action.choices for action in described._actions if "--output" in action.option_strings)
    assert {"text", "json", "markdown"} <= set(formats or ())


@pytest.mark.parametrize("more", [[], ["--drain", "n1@30"]])
def test_simulate_answers_as_json(cluster: str, more: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Each pod with its state, node and reason, whether time stands still or not."""
    assert main(["simulate", cluster, "--output", "json", *more]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["nodes"] == 2
    (pod,) = answer["pods"]
    assert (pod["node"], bool(pod["why"])) == (("", True) if more else ("n1", True))


def test_a_pod_that_a_drain_creates_is_explained(cluster: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`explain` takes the verbs of `simulate`: a pod that exists only afterwards can be asked about."""
    assert main(["simulate", cluster, "--drain", "n1@30", "--output", "json"]) == 0
    (pod,) = json.loads(capsys.readouterr().out)["pods"]
    assert main(["explain", cluster, "--pod", pod["pod"], "--drain", "n1@30"]) == 0
    assert "node n1 is cordoned" in capsys.readouterr().out
    assert main(["explain", cluster, "--pod", pod["pod"]]) == 2


def test_markdown_has_headings_lists_and_columns(cluster: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A heading for a title, a list for what is indented, a fence for what is aligned."""
    assert main(["simulate", cluster, "--drain", "n1@30", "--output", "markdown"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "### Drains and evictions"
    table = lines.index("NAME                  READY   STATUS    RESTARTS   AGE     NODE")
    assert lines[table - 1] == "```text"
    assert any(line.startswith("### Workloads over time") for line in lines)
    assert lines.count("```") == lines.count("```text")


def test_colors_are_for_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Escape sequences are written to a terminal alone, and not with NO_COLOR."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    plain, terminal, monochrome = io.StringIO(), Terminal(), Terminal()
    for out in (plain, terminal):
        write_answer("text", lambda: ["n1: fits [all]"], dict, out)
    monkeypatch.setenv("NO_COLOR", "1")
    write_answer("text", lambda: ["n1: fits [all]"], dict, monochrome)
    assert plain.getvalue() == monochrome.getvalue() == "n1: fits [all]\n"
    assert "\x1b[32mfits\x1b[0m [all]" in terminal.getvalue()


def test_progress_is_on_standard_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of cycles is written to a terminal on standard error, and erased at the end."""
    monkeypatch.setattr("scheduler_core.cli.output.TICK", 0)
    error = Terminal()
    monkeypatch.setattr(sys, "stderr", error)
    assert list(counted_on_terminal([7, 8], "cycles")) == [7, 8]
    assert error.getvalue() == "\r1 cycles\r2 cycles\r\x1b[K"


@pytest.mark.parametrize(
    ("shell", "command", "paths"),
    [
        ("bash", "_shtab_podstep_{}_option", "_shtab_podstep_explain_pos_0_COMPGEN=_shtab_compgen_files"),
        ("zsh", "_shtab_podstep_{}_options", "for standard input:_files"),
        ("tcsh", "{}", "f/"),
        ("fish", "_shtab_podstep_using {}'", "__fish_complete_path"),
    ],
)
def test_shells_complete_commands_options_and_paths(
    shell: str, command: str, paths: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The script of a shell names every command that is installed, with its options, and offers files."""
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert [name for name in available() if command.format(name) not in script] == []
    assert "feature-gates" in script
    assert paths in script


def test_the_document_has_every_command_and_exit_code() -> None:
    """docs/command-line.md names the commands, and says of each exit code what the help says."""
    text = (REPOSITORY / "docs/command-line.md").read_text(encoding="utf-8")
    assert [command.name for command in COMMANDS if f"`{command.name}" not in text] == []
    assert all(f"| {code} | {meaning} |" in text for code, meaning in EXIT_CODES.items())
