"""Running a scenario: one core, driven with time standing still or in virtual time."""
