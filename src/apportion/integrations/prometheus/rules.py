"""The rule files, by name."""

from importlib.resources import files

NAMES = ("apportion.recording.yml", "apportion.alerts.yml")
RULES = {name: (files(__package__) / name).read_text("utf-8") for name in NAMES}
