"""Database rows: bundles, links, drafts; quotas, retention and backups."""
