"""The distributions: equal bytes from the repository and an sdist, and at work in a fresh environment."""

from __future__ import annotations

import ast
import json
import os
import re
import signal
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

import scheduler_core
from tests import fresh
from tests.core.cli.test_commands import CLUSTER
from tests.parts import REPOSITORY
from tests.services.client import request
from tests.services.processes import Process, free_port, wait_until, wait_until_ready
from tests.services.stack import clean_environment

pytestmark = [pytest.mark.xdist_group("package")]

EPOCH = "1700000000"
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
VERSION = scheduler_core.__version__
OPTIONAL = {"mcp"}  # of an extra


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both distributions, built from the repository."""
    folder = tmp_path_factory.mktemp("distributions")
    _run(sys.executable, ".ci/distributions.py", str(folder), cwd=REPOSITORY)
    return folder


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment that has the package podstep and what it declares."""
    folder = tmp_path_factory.mktemp("installed") / "podstep"
    return fresh.environment(folder, built / f"podstep-{VERSION}-py3-none-any.whl")


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    file = tmp_path / "cluster.yaml"
    file.write_text(CLUSTER)
    return file


def _run(*command: str, cwd: Path, **variables: str) -> str:
    """Run a program with the time of its files; return what it prints."""
    env = {**clean_environment(), "SOURCE_DATE_EPOCH": EPOCH, **variables}
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr[-2_000:]
    return done.stdout


def test_an_sdist_builds_the_same_wheel(built: Path, tmp_path: Path) -> None:
    """The wheel from the unpacked sdist, by another user's umask, has the bytes of the repository's."""
    name = f"podstep-{VERSION}"
    with tarfile.open(built / f"{name}.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    before = os.umask(0o077)
    try:
        _run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", cwd=tmp_path / name)
    finally:
        os.umask(before)
    wheel = f"{name}-py3-none-any.whl"
    assert (tmp_path / name / "dist" / wheel).read_bytes() == (built / wheel).read_bytes()


def test_a_wheel_has_the_pages_and_nothing_else_of_the_repository(built: Path) -> None:
    """Bundles of exactly the newest build, schemas, templates and documents; no test, no bytecode."""
    names = set(zipfile.ZipFile(built / f"podstep-{VERSION}-py3-none-any.whl").namelist())
    made = json.loads((REPOSITORY / "static/built/made.json").read_text())
    site = "playground/site/"
    bundled = {one for one in names if one.startswith(f"{site}static/built/")}
    assert bundled == {f"{site}static/built/made.json", *(f"{site}static/{one}" for one in made["files"])}
    assert {
        f"{site}templates/base.html",
        f"{site}static/vendor/kubernetes.json",
        f"{site}docs/README.md",
    } <= names
    assert {one.split("/")[0] for one in names} == {
        "playground",
        "scheduler_core",
        f"podstep-{VERSION}.dist-info",
    }
    assert not [one for one in names if "__pycache__" in one]


def _imports(package: str) -> Iterator[str]:
    for path in (REPOSITORY / package).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                yield from (alias.name.split(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and not node.level:
                yield (node.module or "").split(".")[0]


def test_the_engine_declares_what_it_imports() -> None:
    """Every package that scheduler_core imports is one of podstep-engine's dependencies, and none is more."""
    known = packages_distributions()
    own = {"scheduler_core", *sys.stdlib_module_names, *OPTIONAL}
    imported = {known[name][0].lower() for name in set(_imports("scheduler_core")) - own}
    assert imported == set(PROJECT["tool"]["podstep"]["engine"]["dependencies"])


def test_the_engine_runs_without_django(built: Path, cluster: Path, tmp_path: Path) -> None:
    """podstep-engine answers with its own dependencies alone, and says what `serve` needs."""
    wheel = built / f"podstep_engine-{VERSION}-py3-none-any.whl"
    programs = fresh.environment(tmp_path / "engine", wheel)
    assert not list((tmp_path / "engine").glob("lib/*/site-packages/django"))
    assert "1 placed" in _run(str(programs / "podstep"), "simulate", str(cluster), cwd=tmp_path)
    assert "placed" in _run(str(programs / "podstep"), "optimum", str(cluster), cwd=tmp_path)
    serve = subprocess.run([programs / "podstep"], capture_output=True, text=True, check=False)
    assert (serve.returncode, serve.stdout) == (2, "")
    assert "podstep serve needs the workbench" in serve.stderr


@pytest.mark.services
def test_the_installed_workbench_serves(installed: Path, cluster: Path, tmp_path: Path) -> None:
    """`podstep serve FILE` in an empty folder: pages, bundles, the file; data in the user's folder."""
    port = free_port()
    here = tmp_path / "here"
    here.mkdir()
    (here / "playground.py").write_text("raise SystemExit('of another project')")
    env = {**clean_environment(), "XDG_DATA_HOME": str(tmp_path / "data")}
    command = [str(installed / "podstep"), "serve", str(cluster), "--port", str(port), "--no-browser"]
    process = Process("podstep", command, log=tmp_path / "log", env=env, cwd=here)
    address = f"http://127.0.0.1:{port}"
    try:
        wait_until_ready(process, lambda: f"podstep answers at {address}" in process.output(), 120)
        page = request("GET", f"{address}/").body.decode()
        made = json.loads((REPOSITORY / "static/built/made.json").read_text())
        start = made["outputs"]["js/pages/start.js"]["name"]
        assert f"/static/{start}" in page
        assert request("GET", f"{address}/static/{start}").status == 200
        assert request("GET", f"{address}/docs/running.md").status == 200
        wait_until(lambda: f"cluster is at {address}/s/" in process.output(), 30, "the file is opened")
        identifier = process.output().rpartition("/s/")[2].split("/")[0]
        assert request("GET", f"{address}/api/scenarios/{identifier}/cycles").json["cycles"]
    finally:
        assert process.stop(signal.SIGINT, 30) == 0
    assert [path.name for path in here.iterdir()] == ["playground.py"]
    assert (tmp_path / "data" / "podstep" / "podstep.sqlite3").is_file()


def test_the_version_stands_in_one_place() -> None:
    """What repeats the version, repeats that of the package."""
    assert f"image: podstep:{VERSION}\n" in (REPOSITORY / "docker-compose.yml").read_text(encoding="utf-8")


def test_the_plugin_of_krew_runs_the_engine_of_its_version(built: Path, tmp_path: Path) -> None:
    """Its launcher hands its arguments to uvx with the version that was built."""
    with tarfile.open(built / "kubectl-podstep.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    uvx = tmp_path / "uvx"
    uvx.write_text('#!/bin/sh\necho "$@"\n')
    uvx.chmod(0o700)
    printed = _run(
        str(tmp_path / "kubectl-podstep"), "why", "a pod", cwd=tmp_path, PATH=f"{tmp_path}:/usr/bin:/bin"
    )
    assert printed == f"--from podstep-engine=={VERSION} kubectl-podstep why a pod\n"


def test_the_bill_of_materials_has_both_lock_files(tmp_path: Path) -> None:
    """Each pinned package of Python, and each npm package of the pages, with its version and hash."""
    file = tmp_path / "podstep.cdx.json"
    _run(sys.executable, ".ci/sbom.py", str(file), cwd=REPOSITORY)
    document = json.loads(file.read_text())
    assert document["metadata"]["component"]["version"] == VERSION
    found = {one["purl"].split("?")[0]: one for one in document["components"]}
    pinned = re.findall(r"^([\w.-]+)==([\w.]+)", (REPOSITORY / "requirements.txt").read_text(), re.MULTILINE)
    lock = json.loads((REPOSITORY / "package-lock.json").read_text())["packages"]
    preact = f"pkg:npm/preact@{lock['node_modules/preact']['version']}"
    assert {f"pkg:pypi/{name}@{version}" for name, version in pinned} | {preact} <= found.keys()
    assert found[preact]["hashes"]
