"""Columns that a log does not have but its columns tell: paths into JSON, arithmetic, and a short list of functions. Parsed here; never `eval`."""
