"""Scrapes wait for their figures; commands are run as people run them."""

from tests.cli.conftest import run
from tests.web.patience import patient_scrapes

__all__ = ["patient_scrapes", "run"]
