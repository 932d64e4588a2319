"""PodGroups: members are scheduled in one cycle, all or nothing (gates GenericWorkload and following)."""
