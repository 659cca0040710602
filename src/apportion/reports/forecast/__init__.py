"""Where a month ends: for each owner or pool the amount, how sure it is, and how well such forecasts did before. Never a bare number."""
