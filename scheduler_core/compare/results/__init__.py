"""The results of a run: manifests, snapshots, metrics."""
