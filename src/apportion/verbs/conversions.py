"""How a bill came into the policy's currency, in words."""

from decimal import Decimal

from apportion.engine.conversion import Conversion
from apportion.engine.lines import Bill
from apportion.model.money import plain
from apportion.reports.words import digits, rounded, shown


def conversion_text(bill: Bill, how: Conversion) -> str:
    """`Cloud 2026-10 EUR: 100.005 EUR at 1.115 are 111.51 USD (month_average of fx.csv: 22 days, 2026-10-01 to 2026-10-30)`."""
    days = str(how.days[0]) if len(how.days) == 1 else f"{len(how.days)} days, {how.days[0]} to {how.days[-1]}"
    money = f"{every_digit(how.total, how.currency)} at {plain(how.rate)} are {shown(bill.total, bill.currency)}"
    return f"{bill.id}: {money} ({how.rule} of {how.table}: {days})"


def every_digit(amount: Decimal, currency: str) -> str:
    """`100.005 EUR`: whoever multiplies it by the rate gets what it was converted to."""
    is_whole = rounded(amount, currency) == amount
    return shown(amount, currency) if is_whole else f"{digits(Decimal(plain(amount)))} {currency}"
