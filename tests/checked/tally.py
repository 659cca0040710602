"""What came of other projects' own cases, as a tally that lies beside the tests: which case was compared, how much of it is equal, and why not all."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

FILE = Path(__file__).parent / "tally.json"


@dataclass(frozen=True)
class Outcome:
    case: str
    about: str
    compared: int = 0  # figures
    equal: int = 0
    why: str = ""  # what is left out or differs, and why

    @property
    def verdict(self) -> str:
        if not self.compared:
            return "not compared"
        return "equal" if self.equal == self.compared else "in part" if self.equal else "missed"


def read() -> dict[str, list[Outcome]]:
    kept = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    return {suite: [Outcome(**one) for one in outcomes] for suite, outcomes in kept.items()}


def write(suite: str, outcomes: Sequence[Outcome]) -> None:
    kept = read() | {suite: list(outcomes)}
    whole = {name: [asdict(one) for one in kept[name]] for name in sorted(kept)}
    FILE.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def hold(suite: str, outcomes: Sequence[Outcome], record: Callable[[str, object], None], anew: bool) -> None:
    """Print what came out under the block, and hold it against what is kept."""
    record(suite, sentence(outcomes))
    if anew:
        write(suite, outcomes)
    remedy = "another tally: see why, then run this test with `--update-golden`, and `make docs`"
    assert list(outcomes) == read().get(suite), remedy


def sentence(outcomes: Sequence[Outcome]) -> str:
    verdicts = Counter(one.verdict for one in outcomes)
    told = ", ".join(f"{verdicts[name]} {name}" for name in ORDER if verdicts[name])
    return f"{figures(outcomes)}; {len(outcomes)} cases: {told}"


def figures(outcomes: Iterable[Outcome]) -> str:
    counts = [(one.equal, one.compared) for one in outcomes]
    return f"{sum(equal for equal, _ in counts)} of {sum(compared for _, compared in counts)} figures equal"


ORDER = ("equal", "in part", "missed", "not compared")
