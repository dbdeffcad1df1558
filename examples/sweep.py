"""The period of a pendulum over its amplitude: many runs, one table, one plot."""

import vitruvian as vt

table = vt.sweep("pendulum", amplitude=[20, 60, 100], seconds=2.0, processes=1, out="period.csv")
print(table)
table.plot("period.png", "exact_period_s")
print(table.column("exact_period_s"))
