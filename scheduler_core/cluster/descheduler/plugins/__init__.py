"""The plugins of the current edition: one module each, whose ``STRATEGY`` declares it."""
