"""The WebSocket: transport, commands and what they share."""
