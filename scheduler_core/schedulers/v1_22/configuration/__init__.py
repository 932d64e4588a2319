"""KubeSchedulerConfiguration: profiles of plugins, compiled to what the framework runs."""
