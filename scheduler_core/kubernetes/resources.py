"""Kinds of resources, by their names."""


def is_scalar(name: str) -> bool:
    """Return whether PodFitsResources counts a resource (v1helper.IsScalarResourceName and related)."""
    if name.startswith(("hugepages-", "attachable-volumes-")) or "kubernetes.io/" in name:
        return True
    return "/" in name and not name.startswith("requests.")
