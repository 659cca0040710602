"""What work ran, as one line of text to match rules with: never with a secret that somebody wrote into it, and never longer than is needed."""

import re
from collections.abc import Iterable

import pyarrow as pa

LONGEST = 1000
READ = 4000  # characters that are looked at: what programs run stands at the beginning
HIDDEN = "***"
NAMED = r"pass(?:word|wd|phrase)?|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|credential|auth"
VALUE = r"""("[^"]*"|'[^']*'|[^\s-]\S*)"""
MASKED = (
    (re.compile(r"\b(Bearer|Basic)\s+\S+", re.IGNORECASE), rf"\1 {HIDDEN}"),
    (re.compile(rf"([\w.-]*(?:{NAMED})[\w.-]*[\"']?[=:]\s*)(?:{VALUE}|\S+)", re.IGNORECASE), rf"\1{HIDDEN}"),
    (re.compile(rf"((?<!\S)--?[\w-]*(?:{NAMED})[\w-]*\s+){VALUE}", re.IGNORECASE), rf"\1{HIDDEN}"),
    (re.compile(r"://[^/\s@]+@"), f"://{HIDDEN}@"),
    (re.compile(r"\b(?:hf_|sk-|ghp_|github_pat_|glpat-|xox[bp]-|AKIA)[\w-]{8,}"), HIDDEN),
)


def command_text(words: Iterable[str]) -> str:
    """`torchrun train.py --hf-token ***`: words as they were given, on one line."""
    text = " ".join(" ".join(words)[:READ].split())
    for pattern, instead in MASKED:
        text = pattern.sub(instead, text)
    return text[:LONGEST]


def command_column(cells: pa.Array) -> pa.Array:
    """The same of a column; empty cells stay empty."""
    encoded = cells.dictionary_encode()
    made = [command_text([cell]) or None for cell in encoded.dictionary.to_pylist()]
    return pa.array(made, pa.string()).take(encoded.indices)
