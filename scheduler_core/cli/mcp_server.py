"""``mcp``: answer agents over the Model Context Protocol: the commands that only read, with their JSON."""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

import scheduler_core
from scheduler_core.authoring.verbs import VERBS
from scheduler_core.cli.commands import BAD_INPUT, BY_NAME
from scheduler_core.cli.input_files import FILES
from scheduler_core.settings.release import RELEASES
from scheduler_core.studies.contracts.library import READY

BUNDLE_BYTES = 8 << 20
ANSWER_BYTES = 1 << 20
MESSAGE_CHARACTERS = 4_000
SECONDS = 60
"""Of a command, which runs in a process of its own."""
MEMORY_BYTES = 4 << 30
AT_ONCE = 2
VERBS_MOST = 50
HOME = Path(scheduler_core.__file__).parents[1]
TEXT_MOST = 300
"""Characters of an option."""

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string", "maxLength": TEXT_MOST}
_COUNT: Schema = {"type": "integer", "minimum": 0, "maximum": 1_000_000}
_FLAG: Schema = {"type": "boolean"}


def _list(of: Schema, most: int) -> Schema:
    return {"type": "array", "items": of, "maxItems": most}


_RELEASE: Schema = {"type": "string", "enum": list(RELEASES)}
_VERBS: Schema = _list({"type": "string", "maxLength": TEXT_MOST}, VERBS_MOST) | {
    "description": "What operators do, each as 'drain n1@60' or 'scale deploy/web=10': "
    + ", ".join(f"{name}: {verb.help}" for name, verb in VERBS.items())
}


class Tool(NamedTuple):
    """A command as a tool: its options with their JSON Schemas, and those that it cannot do without."""

    options: Mapping[str, Schema]
    required: tuple[str, ...] = ()


TOOLS: Mapping[str, Tool] = {
    "simulate": Tool({"scheduler": _RELEASE, "verbs": _VERBS}),
    "explain": Tool(
        {"pod": _TEXT, "node": _TEXT, "step": _TEXT, "scheduler": _RELEASE, "verbs": _VERBS}, ("pod",)
    ),
    "compare": Tool({"scheduler": _list(_RELEASE, 2), "again": _FLAG}, ("scheduler",)),
    "optimum": Tool({"step": _COUNT, "move": _FLAG, "evict": _FLAG}),
    "check": Tool(
        {"contracts": _list({"type": "string", "enum": list(READY)}, len(READY)), "scheduler": _RELEASE},
        ("contracts",),
    ),
    "audit": Tool({"scheduler": _RELEASE, "cases": _COUNT}),
    "capacity": Tool({"scheduler": _RELEASE}),
}
"""A row a tool; no option names a file."""


class ToolError(Exception):
    """A call cannot be answered; the text is for the agent."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("files", nargs="*", metavar="FILE", help=f"what is asked about: {FILES}")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Answer on standard input and output until the client closes them."""
    asyncio.run(_serve(server([str(Path(file).absolute()) for file in options.files])))
    return 0


async def _serve(answering: Server[Any]) -> None:
    async with stdio_server() as (incoming, outgoing):
        await answering.run(incoming, outgoing, answering.create_initialization_options())


def server(files: Sequence[str] = ()) -> Server[Any]:
    """Return a server whose tools answer about ``files``, or about the ``bundle`` of each call."""
    places = asyncio.Semaphore(AT_ONCE)

    async def listed(_context: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_described(name, has_files=bool(files)) for name in TOOLS])

    async def called(_context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            async with places:
                answer = await _answer(params.name, params.arguments or {}, files)
        except ToolError as error:
            return types.CallToolResult(content=[_text(str(error))], is_error=True)
        return types.CallToolResult(
            content=[_text(answer)], structured_content={"answer": json.loads(answer)}
        )

    about = (
        "Answers of kube-scheduler about a Kubernetes cluster: why a pod is pending, what a drain would do."
    )
    return Server(
        "podstep",
        version=scheduler_core.__version__,
        instructions=about,
        on_list_tools=listed,
        on_call_tool=called,
    )


def _text(text: str) -> types.TextContent:
    return types.TextContent(type="text", text=text)


def _described(name: str, *, has_files: bool) -> types.Tool:
    tool = TOOLS[name]
    bundle: Schema = {"type": "string", "description": "manifests or a dump, YAML or JSON"}
    return types.Tool(
        name=name,
        description=BY_NAME[name].summary,
        input_schema={
            "type": "object",
            "properties": {"bundle": bundle, **tool.options},
            "required": [*tool.required, *(() if has_files else ("bundle",))],
            "additionalProperties": False,
        },
        annotations=types.ToolAnnotations(read_only_hint=True, open_world_hint=False),
    )


async def _answer(name: str, given: Mapping[str, Any], files: Sequence[str]) -> str:
    """Return the JSON that a command prints.

    Raises:
        ToolError: There is no such tool or option, or the command failed or exceeded a bound.
    """
    if name not in TOOLS:
        raise ToolError(f"there is no tool {name}: {', '.join(TOOLS)}")
    bundle = str(given.get("bundle", "")).encode(errors="replace")
    if len(bundle) > BUNDLE_BYTES:
        raise ToolError(f"bundle: at most {BUNDLE_BYTES >> 20} MiB are read")
    if not bundle and not files:
        raise ToolError("bundle: the manifests are missing")
    missing = [option for option in TOOLS[name].required if not given.get(option)]
    if missing:
        raise ToolError(f"{missing[0]}: is required")
    options = [one for key in given if key != "bundle" for one in _arguments(name, key, given[key])]
    return await _output([name, *options, "--output=json", *(["-"] if bundle else files)], bundle)


def _arguments(name: str, option: str, value: Any) -> list[str]:
    """Return an option as arguments of the command. Raises ToolError for one that does not fit its schema."""
    schema = TOOLS[name].options.get(option)
    if schema is None:
        raise ToolError(f"{option}: {name} has the options {', '.join(TOOLS[name].options)}")
    values = value if schema["type"] == "array" and isinstance(value, list) else [value]
    if len(values) > schema.get("maxItems", 1) or not all(
        _fits(one, schema.get("items", schema)) for one in values
    ):
        raise ToolError(f"{option}: expected {json.dumps(schema)}")
    if option == "verbs":
        return [_verb(one) for one in values]
    return [f"--{option}" if one is True else f"--{option}={one}" for one in values if one is not False]


def _fits(value: Any, schema: Schema) -> bool:
    kind = {"string": str, "integer": int, "boolean": bool}[schema["type"]]
    if type(value) is not kind or value not in schema.get("enum", [value]):
        return False
    return len(str(value)) <= TEXT_MOST and str(value).isprintable()  # no argument of a process has a NUL


def _verb(text: str) -> str:
    """Return ``drain n1@60`` as an option."""
    name, _, target = text.partition(" ")
    if name not in VERBS or not target:
        raise ToolError(f"verbs: {text!r} is none of {', '.join(VERBS)}, followed by its target")
    return f"--{name}={target.strip()}"


async def _output(arguments: Sequence[str], bundle: bytes) -> str:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "scheduler_core", *arguments),
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        preexec_fn=_bound_memory,
        cwd=HOME,  # not the user's folder, which may have a module of a name of ours
    )
    try:
        output, errors = await asyncio.wait_for(process.communicate(bundle), SECONDS)
    except TimeoutError as error:
        raise ToolError(f"no answer within {SECONDS} s: ask about fewer pods") from error
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()  # closes its pipes
    if process.returncode not in {0, 1} or not output:
        message = errors.decode(errors="replace").strip()[-MESSAGE_CHARACTERS:]
        raise ToolError(message if process.returncode == BAD_INPUT else f"the command failed: {message}")
    if len(output) > ANSWER_BYTES:
        raise ToolError(f"the answer has more than {ANSWER_BYTES >> 20} MiB: ask about less")
    return output.decode()


def _bound_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
