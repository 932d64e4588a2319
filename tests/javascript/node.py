"""esbuild and Node's own test runner."""

from __future__ import annotations

import asyncio
import os
from asyncio.subprocess import PIPE, STDOUT
from collections.abc import Sequence
from pathlib import Path
from subprocess import run

from tests.parts import REPOSITORY

LEAST = "20.19"  # of Node: one that has `node --test`


def bundle(sources: Sequence[Path], *options: str) -> None:
    """Bundle modules, each with all that it imports as one script."""
    esbuild = next(REPOSITORY.glob("node_modules/@esbuild/*/bin/esbuild"))
    command = [str(esbuild), *map(str, sources), "--bundle", "--log-level=warning", *options]
    run(command, check=True, cwd=REPOSITORY)


def bundle_tests(sources: Sequence[Path], folder: Path) -> None:
    """Bundle files of tests for Node; a script of the same name with ``.cjs`` is in the folder then."""
    # As CommonJS: happy-dom as a script is there in a third of the time that its modules take.
    options = ("--platform=node", "--sourcemap=inline", f"--outdir={folder}", "--out-extension:.js=.cjs")
    bundle(sources, *options)


async def pass_in_node(script: Path, **environment: str) -> None:
    """Run a script's tests; those that fail are named, with what differs."""
    command = [
        ".ci/node",
        LEAST,
        "node",
        "--enable-source-maps",
        "--test-reporter=spec",
        "--test",
        str(script),
    ]
    done = await asyncio.create_subprocess_exec(
        *command, cwd=REPOSITORY, env={**os.environ, **environment}, stdout=PIPE, stderr=STDOUT
    )
    output = (await done.communicate())[0].decode()
    assert done.returncode == 0, output
    assert "pass 0" not in output
