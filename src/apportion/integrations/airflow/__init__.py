"""A provider for Airflow 3: operators, a sensor, a hook and assets.

`operators`, `sensors`, `hooks`, `assets` and `asking` import Airflow; the others can be read and tested without it.
"""
