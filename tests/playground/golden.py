"""Run cases that are data: a bundle beside the frames that it must give.

``PODSTEP_GOLDEN=write`` writes the frames anew; look at the difference before committing it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any


def check(path: Path, actual: Any) -> None:
    """Compare with the file, as JSON."""
    text = json.dumps(actual, indent=1, ensure_ascii=False) + "\n"
    if os.environ.get("PODSTEP_GOLDEN") == "write":
        path.write_text(text)
    assert json.loads(text) == json.loads(path.read_text())
