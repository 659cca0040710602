"""Advice on waste with its price: one file a kind, a table of them (`kinds`), and pieces of advice made of what they find (`pieces`).

A kind is a pure rule over what the books know of a run; its thresholds are named in its file and told in docs/how-to/act-on-advice.md.

`advice/` is rules over workloads' stretches and labels, a file a kind, and says nothing of what was not measured or told. Savings are shares of the
workload's own charges; a workload is in one finding alone, that of the first kind in the table (`kinds`, the most specific first), whichever kinds
are asked for: no hour is saved twice. A kind is kept while planted months that it was not tuned on give precision 0.9 and recall 0.8
(`tests/advice`).

What advice saved (`advice/realised`) is computed anew from two posted months and kept nowhere. It compares waste for each useful hour, so that work
that stopped or grew is no saving, and says `cannot tell` where the later month has nothing that would show the waste.
"""
