"""What a run leaves: manifests, snapshots, metrics."""
