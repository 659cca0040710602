"""Names inside texts: found as words, where no letter or digit goes on before or after them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

WORD = re.compile(r"[^\W_]+")
SHORTEST = 3  # shorter names, and mere numbers, are words of other things too


@dataclass(frozen=True)
class Words:
    tokens: Mapping[str, str]  # by name

    @cached_property
    def starts(self) -> dict[str, list[str]]:
        """Names by their first word, the longest first."""
        found: dict[str, list[str]] = {}
        for name in sorted(self.tokens, key=len, reverse=True):
            first = WORD.search(name)
            if first and len(name) >= SHORTEST and not name.isdigit():
                found.setdefault(first[0], []).append(name)
        return found

    def text(self, text: str) -> str:
        """With tokens in place of names."""
        parts, end = [], 0
        for word in WORD.finditer(text):
            name = next(self.around(text, word, end), None)
            if name is not None:
                start = word.start() - name.index(word[0])
                parts += [text[end:start], self.tokens[name]]
                end = start + len(name)
        return "".join([*parts, text[end:]]) if parts else text

    def around(self, text: str, word: re.Match[str], end: int) -> Iterator[str]:
        """Names that begin with this word and stand here, behind what was replaced already."""
        for name in self.starts.get(word[0], ()):
            start = word.start() - name.index(word[0])
            after = text[start + len(name) : start + len(name) + 1]
            if start >= end and text.startswith(name, start) and not after.isalnum():
                yield name
