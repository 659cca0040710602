"""The monthly review: one file a kind of finding, each a pure rule over what the books know of a month, and of the month before.

A rule says nothing below its bound (`bounds`); what it suggests is words, or an edit of the policy that changes nothing by itself.
"""
