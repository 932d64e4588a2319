"""KubeSchedulerConfiguration: profiles of plugins, compiled to what the framework runs."""

from scheduler_core.schedulers.v1_22.configuration.compiling import compile_configuration, read_and_compile
from scheduler_core.schedulers.v1_22.configuration.conversion import Conversion, to_policy
from scheduler_core.schedulers.v1_22.configuration.from_policy import from_policy
from scheduler_core.schedulers.v1_22.configuration.result import (
    Enabled,
    FrameworkConfiguration,
    FrameworkProfile,
)
from scheduler_core.schedulers.v1_22.configuration.versions import CONFIGURATION_KIND, VERSIONS

__all__ = [
    "CONFIGURATION_KIND",
    "VERSIONS",
    "Conversion",
    "Enabled",
    "FrameworkConfiguration",
    "FrameworkProfile",
    "compile_configuration",
    "from_policy",
    "read_and_compile",
    "to_policy",
]
