"""What the status of a Job says to Kueue: how it ended, whether it has stopped, what it no longer needs."""

from __future__ import annotations

from scheduler_core.cluster.v1_37.objects import Manifest, spec_of, status_of

DECLARED_FINISHED = 3
"""How often the original says of a Job that its Workload is finished."""


def end_of(job: Manifest) -> tuple[str, str] | None:
    """Return how a Job ended: the reason and message of its Workload's condition."""
    for one in status_of(job).get("conditions") or ():
        if one.get("status") == "True" and one.get("type") in ("Complete", "Failed"):
            reason = "Succeeded" if one["type"] == "Complete" else "Failed"
            return reason, one.get("message") or "Job finished successfully"
    return None


def is_idle(job: Manifest) -> bool:
    """Return whether a Job is suspended and none of its pods runs."""
    status = status_of(job)
    return bool(spec_of(job).get("suspend")) and not status.get("active")


def reclaimable_pods(job: Manifest) -> dict[str, int]:
    """Return the pods whose quota a Job no longer needs (Job.ReclaimablePods)."""
    spec, succeeded = spec_of(job), int(status_of(job).get("succeeded") or 0)
    parallelism = int(spec.get("parallelism") or 1)
    if parallelism == 1 or not succeeded:
        return {}
    left = int(spec.get("completions") or parallelism) - succeeded
    return {} if left >= parallelism else {"main": parallelism - left}
