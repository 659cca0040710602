"""The pictures that README and docs show, each of a page of the demo: `python -m tests.browser --docs` makes all of them anew."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs/images"
LARGEST, WIDEST = 150_000, 1200  # bytes and pixels: pages that show them stay light
CHANGE = (
    "idle: reservation",
    "idle: proportional",
)  # what the demo's policy file says otherwise, where two policies are compared


@dataclass(frozen=True)
class Picture:
    """The first screen of a page, `size` pixels large; `names` fill its path, and are the demo's."""

    name: str
    path: str
    names: Mapping[str, str] = field(default_factory=dict)
    query: str = "period=2026-10"
    size: tuple[int, int] = (WIDEST, 860)
    dark: bool = False
    phone: bool = False
    changed: bool = False  # with another policy in the file than the month was posted with

    @property
    def url(self) -> str:
        return f"{self.path.format_map(self.names)}?{self.query}"

    @property
    def file(self) -> Path:
        return IMAGES / f"{self.name}.png"


PICTURES = (
    Picture("overview", "/"),
    Picture("team", "/teams/{team}", {"team": "vision"}),
    Picture("pool", "/pools/{pool}", {"pool": "h100"}),
    Picture("explain", "/explain", query="period=2026-10&what=team:vision"),
    Picture("what-if", "/what-if", query="period=2026-10&pool=l40s&price=%2B10%25", size=(WIDEST, 1120)),
    Picture("phone-dark", "/teams/{team}", {"team": "vision"}, size=(390, 844), dark=True, phone=True),
    Picture("policy-diff", "/policy/diff", size=(WIDEST, 1100), changed=True),
)


def changed_copy(project: Path, folder: Path) -> Path:
    """The same books, and another policy in the file."""
    made = Path(shutil.copytree(project, folder))
    policy = made / "policy.yaml"
    text = policy.read_text("utf-8")
    assert CHANGE[0] in text, f"the demo's policy no longer says {CHANGE[0]!r}"
    policy.write_text(text.replace(*CHANGE, 1), "utf-8")
    return made
