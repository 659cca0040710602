"""The settings of a stanza, checked before anything is asked."""

from dataclasses import dataclass, field

from apportion.errors import ProjectError
from apportion.model.gpus import SCHEMES, Board
from apportion.sources.outside.web import WEB_SETTINGS
from apportion.sources.prometheus.selectors import Matcher, parse_matchers
from apportion.sources.settings import Stanza

ENERGY = ("counter", "kepler", "power")  # where joules come from, the best first
NETWORK = {"both": ("transmit", "receive"), "transmit": ("transmit",), "receive": ("receive",), "none": ()}
RENAMED = ("pod", "namespace", "container", "node", "uid")
DAY_MINUTES = 1440
SETTINGS = (
    *WEB_SETTINGS,
    "cluster",
    "match",
    "labels",
    "label_keys",
    "sharing",
    "energy",
    "network",
    "bucket_minutes",
    "pad_minutes",
    "scrape_interval_s",
)


@dataclass(frozen=True, slots=True)
class How:
    """How samples are read: everything of the stanza but the address."""

    source: str
    cluster: str
    always: tuple[Matcher, ...] = ()
    renamed: dict[str, str] = field(default_factory=dict)  # our word for a label -> theirs
    label_keys: tuple[str, ...] = ()  # true spellings of labels, beside those that are known
    board: Board = field(default_factory=Board)
    energy: tuple[str, ...] = ENERGY
    network: tuple[str, ...] = NETWORK["both"]
    bucket_s: int = 3600
    pad_s: int = 1800
    step_s: int = 0  # 0: as found


def how_of(found: Stanza) -> How:
    minutes = found.number("bucket_minutes", 60, 5, DAY_MINUTES)
    if DAY_MINUTES % minutes:
        text = f"bucket_minutes must divide a day, and {minutes} does not"
        raise ProjectError("invalid-setting", text, where=found.where)
    return How(
        source=found.text("name"),
        cluster=found.text("cluster"),
        always=matchers(found),
        renamed=found.words("labels", RENAMED),
        label_keys=found.names("label_keys"),
        board=Board(**found.counts("sharing", SCHEMES)),
        energy=found.names("energy", ENERGY, ENERGY),
        network=NETWORK[found.word("network", NETWORK, "both")],
        bucket_s=minutes * 60,
        pad_s=found.number("pad_minutes", 30, 2, 180) * 60,
        step_s=found.number("scrape_interval_s", 0, 0, 3600),
    )


def matchers(found: Stanza) -> tuple[Matcher, ...]:
    text = found.text("match", "")
    parsed = parse_matchers(text)
    if parsed is None:
        raise found.refuse("match", 'matchers such as cluster="a",job!="b"', text)
    return parsed
