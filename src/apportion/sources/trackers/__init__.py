"""Experiment trackers: which experiment, run and model a job or pod worked for. Labels on workloads that others measure; never quantities."""
