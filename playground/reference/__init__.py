"""The reference of rules, caches and PodGroups as rows and texts, for the pages and the editors."""
