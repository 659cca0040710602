"""The daily round in parts: reading sources, posting months, telling people."""
