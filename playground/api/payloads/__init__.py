"""The bodies of requests and responses, a module for each subject.

A route names the classes of its bodies; the components of the OpenAPI document are generated from them, each
by its name and its docstring. A field with the default UNSET may be left out. Fields whose objects the
protocol describes (docs/protocol.md) are objects here.
"""
