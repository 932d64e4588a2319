"""`podstep mcp` by the SDK's own client, in this process: the commands that read, and their bounds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from scheduler_core.cli import mcp_server
from scheduler_core.cli.commands import parser
from tests.core.cli.test_commands import CLUSTER


async def ask(tool: str, files: tuple[str, ...] = (), **arguments: Any) -> tuple[bool, str]:
    """Call a tool; returns whether it failed, and its text."""
    async with Client(mcp_server.server(files)) as client:
        result = await client.call_tool(tool, arguments)
    return bool(result.is_error), result.content[0].text


async def test_tools_are_the_commands_that_read() -> None:
    """Each tool is described by its command's summary, takes its options, and is marked as one that reads."""
    async with Client(mcp_server.server()) as client:
        tools = (await client.list_tools()).tools
    assert [tool.name for tool in tools] == list(mcp_server.TOOLS)
    assert all(tool.annotations.read_only_hint for tool in tools)
    for tool in tools:
        described = parser([tool.name])._subparsers._group_actions[0].choices[tool.name]  # type: ignore[index]
        known = {name for action in described._actions for name in action.option_strings}
        options = set(tool.input_schema["properties"]) - {"bundle", "verbs"}
        assert {f"--{name}" for name in options} <= known


async def test_an_answer_is_the_command_s_json() -> None:
    """A pod that exists only after a drain is explained: the same verbs, the same JSON."""
    failed, text = await ask("simulate", bundle=CLUSTER, verbs=["drain n1@30"])
    assert not failed
    (pod,) = json.loads(text)["pods"]
    failed, text = await ask("explain", bundle=CLUSTER, verbs=["drain n1@30"], pod=pod["pod"])
    assert not failed
    assert json.loads(text)["state"] == "pending"


async def test_a_violated_contract_is_an_answer() -> None:
    """`check` ends with 1 where a contract is violated: the agent gets the verdicts, and no error."""
    failed, text = await ask("check", bundle=CLUSTER, contracts=["drain-order"])
    assert not failed
    assert json.loads(text)["verdicts"][0]["verdict"] == "violated"


async def test_files_of_the_start_are_asked_about(tmp_path: Path) -> None:
    """A server started with files answers about them, and no call names others."""
    file = tmp_path / "cluster.yaml"
    file.write_text(CLUSTER)
    failed, text = await ask("simulate", (str(file),))
    assert (failed, json.loads(text)["nodes"]) == (False, 2)


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("simulate", {}, "bundle: the manifests are missing"),
        ("simulate", {"bundle": "a: ["}, "-:2: not valid YAML"),
        ("simulate", {"bundle": CLUSTER, "trace": "/tmp/x"}, "trace: simulate has the options"),
        ("simulate", {"bundle": CLUSTER, "scheduler": "v9"}, "scheduler: expected"),
        ("simulate", {"bundle": CLUSTER, "verbs": ["reboot n1"]}, "verbs: 'reboot n1' is none of cordon"),
        ("explain", {"bundle": CLUSTER}, "pod: is required"),
        ("explain", {"bundle": CLUSTER, "pod": "nobody"}, "nobody"),
        ("explain", {"bundle": CLUSTER, "pod": "web\0"}, "pod: expected"),
        ("serve", {"bundle": CLUSTER}, "there is no tool serve"),
    ],
)
async def test_bad_calls_are_answered_with_what_is_wrong(
    tool: str, arguments: dict[str, Any], message: str
) -> None:
    """An error names the argument, or is the command's own message."""
    failed, text = await ask(tool, **arguments)
    assert failed
    assert message in text


async def test_calls_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bundle, an answer and the seconds of a command have bounds, which the error names."""
    monkeypatch.setattr(mcp_server, "BUNDLE_BYTES", 10)
    assert await ask("simulate", bundle=CLUSTER) == (True, "bundle: at most 0 MiB are read")
    monkeypatch.undo()
    monkeypatch.setattr(mcp_server, "ANSWER_BYTES", 10)
    assert (await ask("simulate", bundle=CLUSTER))[1].startswith("the answer has more than")
    monkeypatch.setattr(mcp_server, "SECONDS", 0)
    assert (await ask("simulate", bundle=CLUSTER))[1].startswith("no answer within 0 s")
