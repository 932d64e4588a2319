"""Conversion to structs by several threads at once."""

from __future__ import annotations

import subprocess
import sys

#: Three threads make the first conversion to each of many structs at once; msgspec alone ends by SIGSEGV.
AT_ONCE = r"""
import sys, threading
from typing import Annotated
from msgspec import Meta, defstruct
from scheduler_core.kubernetes.conversion import converted

sys.setswitchinterval(1e-6)
for n in range(60):
    texts = {f"f{i}": f"a{n}x{i}" for i in range(12)}
    kinds = {name: Annotated[str, Meta(pattern=rf"\A(?:{text})\Z")] for name, text in texts.items()}
    kind = defstruct(f"S{n}", [(name, kind | None, None) for name, kind in kinds.items()])
    together = threading.Barrier(3)

    def convert():
        together.wait()
        assert converted(texts, kind).f0 == texts["f0"]

    threads = [threading.Thread(target=convert) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


def test_threads_may_convert_to_a_struct_for_the_first_time_at_once() -> None:
    """The process survives it, and each gets its struct."""
    done = subprocess.run([sys.executable, "-c", AT_ONCE], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
