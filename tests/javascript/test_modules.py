"""The browser's pure modules, by `node --test` on what the engine and the server say."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.javascript.recorded import recorded
from tests.parts import REPOSITORY

HERE = Path(__file__).parent
FILES = sorted(path.name for path in HERE.glob("*.test.ts"))
LEAST = "20.19"  # of Node: one that has `node --test`


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with each test and the modules that it imports as one script, and what they read."""
    folder = tmp_path_factory.mktemp("javascript")
    esbuild = next(REPOSITORY.glob("node_modules/@esbuild/*/bin/esbuild"))
    options = ["--bundle", "--platform=node", "--format=esm", "--sourcemap=inline", f"--outdir={folder}"]
    command = [str(esbuild), *(str(HERE / name) for name in FILES), *options, "--out-extension:.js=.mjs"]
    subprocess.run(command, check=True, capture_output=True, text=True)
    (folder / "recorded.json").write_text(json.dumps(recorded()), "utf-8")
    return folder


@pytest.mark.parametrize("name", FILES)
def test_a_module_keeps_to_its_cases(made: Path, name: str) -> None:
    """Each case of the file holds; those that do not are named, with what differs."""
    command = [".ci/node", LEAST, "node", "--enable-source-maps", "--test-reporter=spec", "--test"]
    script = (made / name).with_suffix(".mjs")
    environment = {**os.environ, "RECORDED": f"{made}/recorded.json"}
    done = subprocess.run(
        [*command, script], cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    assert "pass 0" not in done.stdout
