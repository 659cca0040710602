"""Every answer is whole: one that was not waited for would leak nothing."""

from tests.web.patience import patient_scrapes

__all__ = ["patient_scrapes"]
