"""What Datadog is told: attributed cost as custom costs, and gauges of the running month."""
