"""What a scheduler is configured with: settings and the v1 Policy, compiled to a Profile."""
