"""Advice on waste with its price: one file a kind, a table of them (`kinds`), and pieces of advice made of what they find (`pieces`).

A kind is a pure rule over what the books know of a run; its thresholds are named in its file and told in docs/how-to/act-on-advice.md.
"""
