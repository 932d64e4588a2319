"""docker-compose.yml and the Dockerfile, as far as they can be checked without a container engine.

That every command and variable in them works is shown by ``tests/e2e``, whose ``compose`` stack they make.
"""

from __future__ import annotations

import importlib.resources
import json
import os
import re
import shutil
import stat
import subprocess
import sys
from functools import cache
from importlib.metadata import distribution
from itertools import pairwise
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from playground.limits import LIMITS, MIB
from playground.queues import WORKERS
from playground.serving import supervisor
from tests.compose import __main__ as exercising
from tests.compose import engine, images
from tests.load.memory import BASE_MIB
from tests.parts import REPOSITORY
from tests.services import compose
from tests.services.stack import SHELL

DOCKERFILE = REPOSITORY / "Dockerfile"
#: A version of at least two numbers, and no `latest`.
PINNED = re.compile(r"^[\w./-]+:\d+\.\d+(\.\d+)?(-[\w.-]+)?$")
#: What the settings read beside the limits (`playground.settings`).
SETTINGS = {"DATABASE_URL", "REDIS_URL", "CELERY_BROKER_URL", "ALLOWED_HOSTS", "DEBUG", "PORT"}
SETTINGS |= {"SECRET_KEY", "SECRET_KEY_FALLBACKS"}
#: What the programs read: uvicorn its number of processes, the settings their folder.
PROGRAMS = {"WEB_CONCURRENCY", "PLAYGROUND_DATA_DIR", "PLAYGROUND_METRICS_TOKEN"}
PROGRAMS |= {"PLAYGROUND_EXTENDERS", "PLAYGROUND_EXTENDER_NETWORKS"}
PROGRAMS |= {f"PLAYGROUND_{name}" for name in ("LESSONS", "LTI", "LTI_KEY", "LRS", "LRS_HOME")}

SERVICES: dict[str, Any] = compose.read({})["services"]
OURS = [name for name, service in SERVICES.items() if service["image"].startswith("podstep:")]


@cache
def instructions() -> list[tuple[str, str]]:
    """Return the Dockerfile's instructions as (name, arguments), continued lines joined."""
    text = re.sub(r"\\\n\s*", "", DOCKERFILE.read_text())
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [(name, rest) for name, _, rest in (line.partition(" ") for line in lines)]


def copied() -> list[str]:
    """Return the sources of the COPY instructions that come from the repository."""
    wanted = [rest.split() for name, rest in instructions() if name == "COPY" and "--from" not in rest]
    return [source for words in wanted for source in words[:-1]]


def test_the_compose_file_follows_the_compose_specification() -> None:
    """docker-compose.yml is valid by the schema of the Compose specification."""
    schemas = importlib.resources.files("check_jsonschema") / "builtin_schemas" / "vendor"
    schema = json.loads((schemas / "compose-spec.json").read_text())
    document = yaml.safe_load(compose.FILE.read_text())
    jsonschema.validators.validator_for(schema)(schema).validate(document)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validators.validator_for(schema)(schema).validate({**document, "servces": {}})


def test_every_image_of_others_is_pinned() -> None:
    """No image can change under a user between two starts."""
    images = {service["image"] for service in SERVICES.values()}
    bases = {rest.split()[0] for name, rest in instructions() if name == "FROM"}
    assert [image for image in images | bases if not PINNED.match(image)] == []


def test_every_variable_of_the_services_is_read() -> None:
    """A variable that nothing reads would be a promise that is not kept."""
    known = SETTINGS | PROGRAMS | {f"PLAYGROUND_{row.name}" for row in LIMITS}
    for name in OURS:
        assert set(SERVICES[name]["environment"]) <= known, name


def test_both_web_servers_bound_frames_alike() -> None:
    """A frame that one of them reads, the other reads too, and neither unpacks any."""
    embedded = supervisor.programs("127.0.0.1", 8000)[0].command
    for command in (SERVICES["web"]["command"], embedded):
        options = dict(pairwise(command))
        assert int(options["--ws-max-size"]) > next(
            row.default for row in LIMITS if row.name == "FRAME_BYTES"
        )
        assert options["--ws-max-size"] == dict(pairwise(embedded))["--ws-max-size"]
        assert options["--ws-per-message-deflate"] == "false"


def test_both_web_servers_bound_slow_clients() -> None:
    """Each is given the protocols that end connections whose clients keep them waiting."""
    for command in (SERVICES["web"]["command"], supervisor.programs("127.0.0.1", 8000)[0].command):
        options = dict(pairwise(command))
        assert (options["--http"], options["--ws"]) == tuple(supervisor.PROTOCOLS[1::2])


def mebibytes(text: str) -> int:
    """Return a size as Compose writes it, in MiB."""
    return int(text[:-1]) * {"m": 1, "g": 1024}[text[-1]]


def test_every_service_has_bounds_that_hold_what_its_processes_may_take() -> None:
    """Memory and processes are limited, and no limit of ours can only be met by being killed."""
    for name, service in SERVICES.items():
        assert int(service["pids_limit"]) <= 512, name
        assert mebibytes(service["mem_limit"]) <= 9 * 1024, name
    most = {row.name: row.default for row in LIMITS}
    processes = int(SERVICES["web"]["environment"]["WEB_CONCURRENCY"])
    each = most["PLAYBACK_BYTES"] // MIB + BASE_MIB
    assert mebibytes(SERVICES["web"]["mem_limit"]) >= processes * each + most["STEP_MIB"]
    command = dict(pairwise(SERVICES["worker"]["command"]))
    assert mebibytes(SERVICES["worker"]["mem_limit"]) >= int(command["--concurrency"]) * most["RUN_MIB"]
    redis = dict(pairwise(SERVICES["redis"]["command"]))
    assert mebibytes(SERVICES["redis"]["mem_limit"]) > mebibytes(redis["--maxmemory"].removesuffix("b"))


def test_every_variable_of_the_shell_is_exercised() -> None:
    """The end-to-end tests give every variable of the file a value of their own."""
    assert compose.variables(compose.FILE.read_text()) == set(SHELL)
    shell = compose.read(SHELL)
    for name in SHELL:
        others = compose.read({key: value for key, value in SHELL.items() if key != name})
        assert others != shell, f"{name} changes nothing"


def test_web_worker_and_migrate_share_image_and_environment() -> None:
    """These services are one program: only what belongs to the web server differs."""
    assert set(OURS) == {"web", "beat", "migrate", *(name for name, _ in WORKERS)}
    own = {"PORT", "WEB_CONCURRENCY"}
    shared = [{k: v for k, v in SERVICES[name]["environment"].items() if k not in own} for name in OURS]
    assert all(one == shared[0] for one in shared)
    assert {SERVICES[name]["image"] for name in OURS} == {SERVICES["web"]["image"]}


def test_both_ways_to_run_have_the_same_workers() -> None:
    """Each worker of the table serves its queues, and its health check asks for the first of them."""
    embedded = {program.name: program for program in supervisor.programs("127.0.0.1", 8000)}
    for name, queues in WORKERS:
        for command in (SERVICES[name]["command"], embedded[name].command):
            options = dict(pairwise(command))
            assert options["--queues"] == ",".join(queues), name
            assert options["--hostname"] == f"{name}@%h"
            assert int(options["--concurrency"]) >= 1
        assert SERVICES[name]["healthcheck"]["test"][-2:] == ["--queue", queues[0]]
        assert SERVICES[name]["stop_signal"] == embedded[name].stop_signal.name == "SIGQUIT"


def test_what_runs_on_is_watched() -> None:
    """Every service that stays up has a health check, and what others need is waited for."""
    for name, service in SERVICES.items():
        assert ("healthcheck" in service) == (name != "migrate"), name
    for name in ("web", *(name for name, _ in WORKERS)):
        conditions = {need: how["condition"] for need, how in SERVICES[name]["depends_on"].items()}
        assert conditions == {
            "migrate": "service_completed_successfully",
            "postgres": "service_healthy",
            "redis": "service_healthy",
        }


def test_only_the_web_server_is_reachable_from_outside() -> None:
    """Database and broker have no port on the host."""
    assert [name for name, service in SERVICES.items() if "ports" in service] == ["web"]


def test_nothing_runs_as_root() -> None:
    """Images of others get a user; ours ends with one, and may gain no rights."""
    users = [rest for name, rest in instructions() if name == "USER"]
    assert users[-1] == "podstep"
    after = instructions()[instructions().index(("USER", users[-1])) :]
    assert not {name for name, _ in after} & {"RUN", "COPY"}
    for name, service in SERVICES.items():
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        if name in OURS:
            assert service["read_only"] is True
            assert "user" not in service
        else:
            assert service["user"] == name


def test_no_log_fills_the_disk() -> None:
    """Every service's output is kept in few files of a bounded size."""
    for name, service in SERVICES.items():
        options = service["logging"]["options"]
        assert re.fullmatch(r"[1-9]\d?m", options["max-size"]), name
        assert 1 < int(options["max-file"]) <= 10, name


def test_named_volumes_are_declared_and_used() -> None:
    """What has to outlive a container lies in a volume."""
    mounted = {volume.split(":")[0] for service in SERVICES.values() for volume in service.get("volumes", ())}
    assert mounted == set(compose.read({})["volumes"])


def in_image(path: Path) -> bool:
    """Tell whether .dockerignore lets a file of the repository into the build."""
    relative = path.relative_to(REPOSITORY).as_posix()
    lines = [line for line in (REPOSITORY / ".dockerignore").read_text().split() if line.startswith("!")]
    allowed = [line[1:] for line in lines]
    return any(relative == name or relative.startswith(f"{name}/") for name in allowed)


def test_every_copied_file_is_there() -> None:
    """Each source of COPY exists, is known to git and passes .dockerignore."""
    assert copied()
    for source in copied():
        path = REPOSITORY / source
        assert path.exists(), source
        assert in_image(path), f".dockerignore keeps {source} out"


def only_locked_packages(folder: Path) -> None:
    """Link into ``folder`` the packages of requirements.txt, and no other that is installed here."""
    names = re.findall(r"^([\w.-]+)==", (REPOSITORY / "requirements.txt").read_text(), re.MULTILINE)
    for name in names:
        try:
            package = distribution(name)
        except ModuleNotFoundError:
            continue  # of another platform: the lock file holds every platform's
        tops = {file.parts[0] for file in package.files or () if file.parts[0] not in {"..", "__pycache__"}}
        for top in tops:
            if not (folder / top).exists():
                (folder / top).symlink_to(Path(str(package.locate_file(top))).resolve())


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """The folder /app as the Dockerfile fills it, beside the packages of its lock file."""
    app, packages = tmp_path / "app", tmp_path / "packages"
    app.mkdir()
    packages.mkdir()
    only_locked_packages(packages)
    for source in copied():
        if source == "requirements.txt":
            continue
        path = REPOSITORY / source
        if path.is_dir():
            shutil.copytree(
                path, app / source, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True
            )
        else:
            (app / source).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, app / source)
    return app


def test_the_image_holds_all_that_its_commands_need(image: Path, tmp_path: Path) -> None:
    """The copied files and the locked packages suffice to compile, prepare and serve, as the commands say."""
    arguments = dict(
        item.split("=", 1) for name, rest in instructions() if name == "ENV" for item in rest.split()
    )
    data = tmp_path / "data"
    env = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join([str(image), str(tmp_path / "packages")]),
        "PLAYGROUND_DATA_DIR": str(data),
    }
    assert arguments["PLAYGROUND_DATA_DIR"] == "/data"

    def run(*command: str) -> str:
        assert command[0] == "python"
        # -S: without this environment's own packages
        asked = [sys.executable, "-S", *command[1:]]
        done = subprocess.run(
            asked, cwd=image, env=env, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout

    for name, rest in instructions():
        if name == "RUN" and rest.startswith("python -m compileall"):
            run(*rest.split())
    command = json.loads(next(rest for name, rest in instructions() if name == "CMD"))
    assert "--host" in run(*command, "--help")
    run(*SERVICES["migrate"]["command"])
    assert (data / "podstep.sqlite3").is_file()
    assert any((data / "static").rglob("*.js"))
    run("python", "-c", "import uvicorn.importer as i; i.import_from_string('playground.asgi:application')")
    run(
        "python",
        "-c",
        "from playground.celery import app; app.loader.import_default_modules(); assert app.tasks",
    )
    assert "manage.py" in command


def test_the_system_commands_of_the_image_are_on_debian() -> None:
    """RUN uses only what the base image has: Python, and Debian's programs for a user and a folder."""
    used = {rest.split()[0] for name, rest in instructions() if name == "RUN"}
    assert used <= {
        "python",
        "/venv/bin/pip",
        "useradd",
        "install",
        "env",
    }  # env: .ci/browser-packages, a script
    for program in ("useradd", "install"):
        assert shutil.which(program, path=f"{os.defpath}:/usr/sbin:/sbin"), program


def test_every_image_of_others_can_be_made() -> None:
    """Where no registry can be reached, `python -m tests.compose` has a recipe for each."""
    for name in images.wanted():
        assert (images.RECIPES / name.partition(":")[0] / "Dockerfile").is_file(), name


def test_without_an_engine_the_exercises_say_why(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No daemon and no right to start one: the exit status is not that of success, and it says why."""
    monkeypatch.setattr(engine, "_version", lambda env: None)
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    monkeypatch.setattr(sys, "argv", ["compose"])
    assert exercising.main() == 2
    assert "only root can start one" in capsys.readouterr().err


def test_scripts_can_be_executed() -> None:
    """Continuous integration and make call these files directly."""
    for name in (
        ".ci/run",
        ".ci/setup",
        ".ci/browser-packages",
        ".ci/javascript",
        ".ci/node",
        ".ci/wheel",
        ".ci/system-packages",
        ".ci/test-packages",
        "manage.py",
    ):
        assert (REPOSITORY / name).stat().st_mode & stat.S_IXUSR, name
