"""Where the month stands and ends, how such forecasts did, and what fits in a quota, as sheets."""

from apportion.render.sheet import Sheet, report_sheet, sheet_of
from apportion.reports.fit import Fit, fit_report
from apportion.reports.forecast.made import Backtest, Forecast
from apportion.reports.forecast.report import backtest_report, forecast_report
from apportion.reports.live import Estimate, live_report


@sheet_of.register
def forecast_sheet(made: Forecast) -> Sheet:
    return report_sheet(forecast_report(made))


@sheet_of.register
def trial_sheet(made: Backtest) -> Sheet:
    return report_sheet(backtest_report(made))


@sheet_of.register
def fit_sheet(made: Fit) -> Sheet:
    return report_sheet(fit_report(made, ""))


@sheet_of.register
def live_sheet(made: Estimate) -> Sheet:
    return report_sheet(live_report(made, "team"))
