"""What is not as usual, and why: one test for days (`spikes`), one for levels (`levels`), one for failures (`failures`), what each means in money (`weighing`),
its causes to the last digit (`causes`), and how it is told (`found`, `report`).

Quiet by default: what has happened in the weeks before, or is no more than chance, is not told. Thresholds are named in the files and told in
docs/how-to/find-anomalies.md; `tests/anomalies` keeps what they find and how seldom they are wrong, on planted months and on traces of real clusters.

`anomaly/` compares with medians and with the highest stretch of the eight weeks before, in whole numbers: real teams' days hang together, so that a
test which takes them for independent is wrong every week. Causes of a difference are Shapley values here, not in the order of `statement/drivers`: a
mix of pools has no natural last step. A kind is kept while planted steps are found ten of ten and no team of the traces has two alarms in a quarter
(`tests/anomalies`).
"""
