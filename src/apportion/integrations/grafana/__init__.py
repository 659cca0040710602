"""Dashboards for Grafana as code: one file each, made of the few kinds of panels in `panels`."""
