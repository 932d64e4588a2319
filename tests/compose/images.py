"""The images that the Dockerfile and docker-compose.yml begin with: pulled, or made of Debian packages.

Where no registry can be reached, an image of that name is made from Debian's packages: Python 3.11,
PostgreSQL 15 and Redis 7.0 instead of the versions that the name says, with what the images of Docker Hub do
that matters here: their users, their folders, and PostgreSQL's first start.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

from tests.compose.engine import Engine, NoEngineError
from tests.parts import REPOSITORY
from tests.services import compose

RECIPES = Path(__file__).parent / "images"
DEBIAN = "podstep-debian:bookworm"
MIRROR = "http://deb.debian.org/debian"
PULL_SECONDS = 300
#: What this machine trusts, the containers trust: a proxy of its network may have a certificate of its own.
TRUSTED = Path("/etc/ssl/certs/ca-certificates.crt")


def wanted() -> list[str]:
    """Return the names of the images of others."""
    services = compose.read({})["services"].values()
    bases = re.findall(r"^FROM (\S+:\S+)", (REPOSITORY / "Dockerfile").read_text(), re.MULTILINE)
    named = [service["image"] for service in services if not service["image"].startswith("podstep:")]
    return sorted({*named, *bases})


def provide(engine: Engine) -> dict[str, str]:
    """Return where each image is from. Raises NoEngineError where one can neither be pulled nor made."""
    found: dict[str, str] = {}
    for name in wanted():
        if engine.docker("image", "ls", "--quiet", name):
            found[name] = "here"
        elif _pulled(engine, name):
            found[name] = "pulled"
        elif engine.private:  # another engine keeps its names for what they say
            _make(engine, name)
            found[name] = "made of Debian's packages"
        else:
            raise NoEngineError(f"{name} cannot be pulled:\n" + "\n".join(engine.log))
    return found


def _pulled(engine: Engine, name: str) -> bool:
    try:
        engine.docker("pull", "--quiet", name, seconds=PULL_SECONDS)
    except (AssertionError, subprocess.TimeoutExpired) as error:
        engine.log.append(f"{name} cannot be pulled: {str(error).strip().splitlines()[-1][:200]}")
        return False
    return True


def _make(engine: Engine, name: str) -> None:
    if not engine.docker("image", "ls", "--quiet", DEBIAN):
        _debian(engine)
    recipe = RECIPES / name.partition(":")[0]
    # The host's network: where its bridge leads nowhere, packages can be had all the same.
    options = ("--network", "host", "--build-arg", f"DEBIAN={DEBIAN}")
    engine.docker("build", *options, "--tag", name, str(recipe))


def _debian(engine: Engine) -> None:
    """Make the smallest Debian 12 that has apt."""
    with tempfile.TemporaryDirectory(prefix="podstep-debian-") as folder:
        root = Path(folder) / "root"
        engine.run(
            "debootstrap", "--variant=minbase", "--include=ca-certificates", "bookworm", str(root), MIRROR
        )
        if TRUSTED.exists():
            (root / str(TRUSTED)[1:]).write_bytes(TRUSTED.read_bytes())
        (root / "etc/pip.conf").write_text(f"[global]\ncert = {TRUSTED}\n")
        packed = Path(folder) / "debian.tar"
        engine.run(
            "tar",
            "--directory",
            str(root),
            "--exclude",
            "./var/cache/apt/archives/*.deb",
            "--create",
            "--file",
            str(packed),
            ".",
        )
        environment = (
            "--change",
            f"ENV NODE_EXTRA_CA_CERTS={TRUSTED}",
            "--change",
            f"ENV SSL_CERT_FILE={TRUSTED}",
        )
        engine.docker("import", *environment, str(packed), DEBIAN)
