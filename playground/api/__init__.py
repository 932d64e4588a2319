"""The HTTP API: JSON without cookies. One table defines the URLs, the checks and the OpenAPI document."""
