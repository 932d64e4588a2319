"""Checks of authorization, of which selectors know the signatures, but no value (library/authz.go)."""

from __future__ import annotations

from scheduler_core.schedulers.v1_37.cel.functions.table import Library, library, row

LIBRARY: Library = library(
    [
        row("authorizer_path", "authorizer.path(string) -> pathcheck"),
        row("authorizer_group", "authorizer.group(string) -> groupcheck"),
        row("authorizer_serviceaccount", "authorizer.serviceAccount(string, string) -> authorizer"),
        row("pathcheck_check", "pathcheck.check(string) -> decision"),
        row("groupcheck_resource", "groupcheck.resource(string) -> resourcecheck"),
        row("resourcecheck_subresource", "resourcecheck.subresource(string) -> resourcecheck"),
        row("resourcecheck_namespace", "resourcecheck.namespace(string) -> resourcecheck"),
        row("resourcecheck_name", "resourcecheck.name(string) -> resourcecheck"),
        row("authorizer_fieldselector", "resourcecheck.fieldSelector(string) -> resourcecheck"),
        row("authorizer_labelselector", "resourcecheck.labelSelector(string) -> resourcecheck"),
        row("resourcecheck_check", "resourcecheck.check(string) -> decision"),
        row("decision_errored", "decision.errored() -> bool"),
        row("decision_error", "decision.error() -> string"),
        row("decision_allowed", "decision.allowed() -> bool"),
        row("decision_reason", "decision.reason() -> string"),
    ]
)
