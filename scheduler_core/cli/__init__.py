"""The engine's command line, one module a command."""
