"""A recorded GPU cluster of 1,523 nodes and 8,152 pods: uploaded, run by a worker, opened anywhere."""

from __future__ import annotations

import gzip
import re
import time
import uuid
from collections.abc import Mapping
from pathlib import Path

import pytest

from scheduler_core import load, simulate
from tests.services.fixtures import only
from tests.services.stack import Stack

pytestmark = [pytest.mark.services, pytest.mark.timeout(420)]

NODES, PODS = "traces/openb_node_list_all_node.csv.gz", "traces/openb_pod_list_default.csv.gz"
LATE = 8_000


def form(fields: Mapping[str, str], files: list[Path]) -> tuple[bytes, str]:
    """Return a form with files as a browser sends it, and its content type."""
    boundary = uuid.uuid4().hex
    parts = [
        f'Content-Disposition: form-data; name="{name}"\r\n\r\n{value}'.encode()
        for name, value in fields.items()
    ]
    parts += [
        f'Content-Disposition: form-data; name="files"; filename="{file.name}"\r\n\r\n'.encode()
        + file.read_bytes()
        for file in files
    ]
    body = b"".join(b"--%s\r\n%s\r\n" % (boundary.encode(), part) for part in parts)
    return body + f"--{boundary}--\r\n".encode(), f"multipart/form-data; boundary={boundary}"


def cookies_of(stack: Stack) -> tuple[str, str]:
    """Visit the start page; return the cookies to send and the token that its form holds."""
    page = stack.get("/")
    assert page.status == 200
    token = re.search(rb'name="csrfmiddlewaretoken" value="([^"]+)"', page.body)
    assert token
    cookies = [value.split(";")[0] for name, value in page.fields if name.lower() == "set-cookie"]
    return "; ".join(cookies), token[1].decode()


def upload(stack: Stack, files: list[Path]) -> str:
    """Import files as a run, as the start page does; returns the run's id."""
    cookies, token = cookies_of(stack)
    fields = {"csrfmiddlewaretoken": token, "title": "GPU trace", "run": "1", "times": "ignore"}
    body, kind = form(fields, files)
    answer = stack.post(
        "/import/", body, **{"Content-Type": kind, "Cookie": cookies, "Origin": stack.base_url}
    )
    assert answer.status == 200, answer.body[:2000]
    found = re.search(r"/runs/([\w-]+)/$", answer.url)
    assert found, answer.url
    return found[1]


# On the other stack, pages upload, run and open traces: tests/browser/test_runs.py.
@only("compose")
def test_a_trace_is_uploaded_run_and_opened(stack: Stack, shared_folder: Path) -> None:
    """The upload becomes a run that decides as a straight simulation does; a late cycle opens without it."""
    files = [shared_folder / NODES, shared_folder / PODS]
    run = upload(stack, files)
    texts = [(file.name, gzip.decompress(file.read_bytes()).decode()) for file in files]
    decisions = [(cycle.pod, cycle.node) for cycle in simulate(load(texts, times="ignore"), trace=False)]
    done = stack.wait_for_run(run, ["done", "failed", "cancelled"], 300)
    assert done["state"] == "done", done
    assert done["done"] == len(decisions)
    assert done["placed"] == sum(node is not None for _, node in decisions)

    began = time.monotonic()
    late = stack.get(f"/api/runs/{run}/cycles/{LATE}").json
    opening = time.monotonic() - began
    print(
        f"\n{stack.name}: {done['seconds']:.1f} s of scheduling, "
        f"{done['placed']:,} of {done['done']:,} placed, peak {done['peakMib']:.0f} MiB, "
        f"cycle {LATE:,} opened in {opening:.2f} s"
    )
    assert (late["pod"], late["node"]) == decisions[LATE - 1]
    # Seconds; where the machine is busy with other things, at least no longer than scheduling took it.
    assert opening < max(10, done["seconds"])
