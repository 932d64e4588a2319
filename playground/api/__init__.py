"""The HTTP API: cookie-less JSON. One table gives the addresses, the checks and the OpenAPI document."""
