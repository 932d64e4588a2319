"""The configuration of a scheduler: settings and the v1 Policy, compiled to a Profile."""
