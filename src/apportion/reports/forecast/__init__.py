"""Where a month ends: for each owner or pool the amount, how sure it is, and how well such forecasts did before. Never a bare number.

`forecast/` chooses a method by its errors at earlier origins and takes the interval from the same errors, not from the model's own variance: real
spending has steps and holes that no model expects. A team's forecast rests on its own days alone, so that it is the same for whoever may see it;
pools are brought to the sum of teams. The back-test chooses as the forecast does, with what was known then. Only `methods` imports statsmodels, when
the first forecast is made.
"""
