"""The monthly review: one file a kind of finding, each a pure rule over what the books know of a month, and of the month before.

A rule says nothing below its bound (`bounds`); what it suggests is words, or an edit of the policy that changes nothing by itself.

`review/` is a rule a file over a month and the one before; what it suggests of the policy is a value (`Edit`), since reports see no policy:
`verbs/reviewing` makes the text. Drift is told by the facets of one policy for both months. A range of a weight is two standard errors of a ratio
over workloads; all evidence must object, and the mildest is suggested.
"""
