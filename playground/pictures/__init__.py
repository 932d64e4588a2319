"""Pictures that the server draws: a step of a scenario as SVG, previews as PNG, QR codes."""
