"""Write what podstep is made of, as CycloneDX: Python packages, and the npm packages in its pages.

``python .ci/sbom.py FILE``. Equal lock files give equal bytes.
"""

from __future__ import annotations

import base64
import json
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def main(target: str) -> None:
    """Write the file."""
    version = runpy.run_path(str(ROOT / "scheduler_core" / "__init__.py"))["__version__"]
    document = _of_python()
    document["metadata"]["component"] |= {"version": version, "purl": f"pkg:pypi/podstep@{version}"}
    document["components"] += sorted(_of_browser(), key=lambda component: component["bom-ref"])
    file = Path(target)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{json.dumps(document, indent=1)}\n", encoding="utf-8")


def _of_python() -> dict[str, Any]:
    command = (sys.executable, "-W", "ignore", "-m", "cyclonedx_py", "requirements", "requirements.txt")
    options = ("--pyproject", "pyproject.toml", "--output-reproducible", "--of", "JSON")
    done = subprocess.run([*command, *options], cwd=ROOT, check=True, capture_output=True, text=True)
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def _of_browser() -> Iterator[dict[str, Any]]:
    """Yield the npm packages of the lock file that pages are bundled with."""
    lock = json.loads((ROOT / "package-lock.json").read_text(encoding="utf-8"))
    for path, row in lock["packages"].items():
        if path and not row.get("dev") and not row.get("optional"):
            name = row.get("name") or path.rpartition("node_modules/")[2]
            purl = f"pkg:npm/{name.replace('@', '%40', 1)}@{row['version']}"
            algorithm, _, digest = row["integrity"].partition("-")
            content = base64.b64decode(digest).hex()
            yield {
                "type": "library",
                "bom-ref": purl,
                "name": name,
                "version": row["version"],
                "purl": purl,
                "hashes": [{"alg": algorithm.upper().replace("SHA", "SHA-"), "content": content}],
            }


if __name__ == "__main__":
    main(*sys.argv[1:])
