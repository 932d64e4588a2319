"""A deterministic, columnar simulator of Kubernetes scheduling."""
