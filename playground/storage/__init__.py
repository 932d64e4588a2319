"""Rows: bundles, links, drafts; quotas, retention and backups."""
