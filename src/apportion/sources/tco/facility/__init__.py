"""Where nodes stand: PUE, tariff, energy and carbon of a site. What each node's electricity cost and emitted, day by day.

Energy is priced once: it is measured, modelled or billed, never two of them. kWh and gCO2e are items of their own, in units that stand where
a currency does, so that they are shared as the money is and never added to it.
"""
