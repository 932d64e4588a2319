"""The reference on rules, caches and PodGroups as rows and texts, for its pages and for the editors."""
