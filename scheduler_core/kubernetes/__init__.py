"""Kubernetes objects as the scheduler sees them: parsed, validated, and immutable."""
