"""Where a month ends: for each owner or pool the amount, how sure it is, and how well such forecasts did before. Never a bare number.

`forecast/` forecasts the sum of a currency on its own days, and lets teams and pools share it (`shares`): errors of teams cancel, and a month has one
end. It chooses a method by its errors at earlier origins and takes the interval from the same errors, not from a model's own variance: real spending
has steps and holes that no model expects. A viewer is told of their own teams alone, with the figures that everybody else is told of them. What bills
hold for days to come is certain and never foreseen. The back-test chooses as the forecast does, with what was known then. It is numpy alone: no extra,
nothing heavy to load, the same figures everywhere.
"""
