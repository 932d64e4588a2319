"""The WebSocket: transport, commands and their shared parts."""
