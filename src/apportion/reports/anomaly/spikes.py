"""Days on which something is far more than it ever was in the weeks before: told where it stands out in every way.

The figure must be more than 1.6 times the highest of the 8 weeks before, more than six median distances (MAD) above their median, and by a sum that matters.
What comes once a month, such as a fee, was there in those weeks and is no news.
"""

from statistics import median

from apportion.reports.anomaly.daily import Daily
from apportion.reports.anomaly.levels import FEWEST, HISTORY

HIGHEST = 16  # tenths of the highest day before
FAR = 6  # median distances: about four standard deviations


def spikes(daily: Daily, first: int, least: int) -> list[int]:
    """Which days from `first` on stand out; `least` is the smallest sum that matters."""
    return [place for place in range(max(first, FEWEST), len(daily)) if is_spike(daily, place, least)]


def is_spike(daily: Daily, place: int, least: int) -> bool:
    before = daily.parts[max(0, place - HISTORY) : place]
    amount, usual = daily.parts[place], median(before)
    if 10 * amount <= HIGHEST * max(before) or amount < usual + least:
        return False
    spread = median(abs(one - usual) for one in before)
    return amount > usual + FAR * spread
