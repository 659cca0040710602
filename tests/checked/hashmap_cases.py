"""openstack/cloudkitty at 4595e098, cloudkitty/tests/test_hashmap.py (Apache 2.0), as facts: the rules and records of each test, and the prices it expects.

It keeps its rules in a database as binary floats: 1.337 comes out as 1.336999999999999966. Written here is the decimal that they stand for.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Fields = Mapping[str, str]
DEFAULT, FIRST, SECOND = "default", "first group", "second group"
PROD, DEV = "f5600101", "a41fba37"  # images, by the first digits of their ids


@dataclass(frozen=True)
class Mapped:
    """What a record costs, or (as `rate`) what its group's price is multiplied by, where its fields have these values."""

    cost: str
    when: Fields | None = None
    group: str = DEFAULT
    rate: bool = False


@dataclass(frozen=True)
class Level:
    """What is added from a level of a field on."""

    cost: str
    level: int
    when: Fields | None = None  # beside the level
    group: str = DEFAULT
    field: str = "memory"


@dataclass(frozen=True)
class Instances:
    fields: Fields
    quantity: str = "1"


@dataclass(frozen=True)
class Case:
    test: str
    about: str
    rules: Sequence[Mapped | Level]
    records: Sequence[Instances]
    prices: Sequence[str]


RECORDS = (
    Instances({"flavor": "m1.nano", "image_id": PROD, "memory": "64", "vcpus": "1"}),
    Instances({"flavor": "m1.tiny", "image_id": DEV, "memory": "512", "vcpus": "1"}, "2"),
    Instances({"flavor": "m1.xlarge", "image_id": "0052f884", "memory": "16384", "vcpus": "8"}, "2"),
    Instances({"flavor": "m1.nano", "image_id": DEV, "memory": "64", "vcpus": "1"}),
)
NANO, TINY = {"flavor": "m1.nano"}, {"flavor": "m1.tiny"}
OWN = {"tenant": "f266f30b"}
ANY = (Instances({}),)
NOTHING = ("0", "0", "0", "0")

CASES = (
    Case(
        "test_load_rates, mappings",
        "A tenant's own price comes before everybody's.",
        (Mapped("2", TINY | OWN), Mapped("1.337", TINY), Mapped("13.37", {"flavor": "m1.large"}, FIRST, rate=True)),
        (Instances(TINY | OWN),),
        ("2",),
    ),
    Case(
        "test_load_rates, thresholds",
        "The same of levels.",
        (Level("0.03", 64, OWN), Level("0.02", 64), Level("0.03", 128)),
        (Instances({"memory": "64"} | OWN), Instances({"memory": "128"} | OWN)),
        ("0.03", "0.03"),
    ),
    Case("test_load_mappings", "A price of a value.", (Mapped("1.337", TINY),), (Instances(TINY),), ("1.337",)),
    Case("test_load_thresholds", "A price of a level.", (Level("3.1337", 1000),), (Instances({"memory": "1000"}),), ("3.1337",)),
    Case(
        "test_process_services",
        "Prices of a service in two groups add up.",
        (Mapped("1.337", group=FIRST), Mapped("1.42")),
        RECORDS,
        ("2.757", "5.514", "5.514", "2.757"),
    ),
    Case(
        "test_process_fields",
        "Prices by flavour, and a rate by image over those of its group.",
        (Mapped("1.337", NANO, FIRST), Mapped("1.10", {"image_id": DEV}, FIRST, rate=True), Mapped("1.42", TINY)),
        RECORDS,
        ("1.337", "2.84", "0", "1.4707"),
    ),
    Case("test_process_fields_no_match", "A value that nothing has.", (Mapped("1.337", {"flavor": "non-existent"}),), RECORDS, NOTHING),
    Case(
        "test_process_field_threshold",
        "Levels of memory; the highest that is reached counts.",
        (Level("0.1337", 64), Level("0.2", 128)),
        RECORDS,
        ("0.1337", "0.4", "0.4", "0.1337"),
    ),
    Case("test_process_field_threshold_no_match", "A level that nothing reaches.", (Level("0.1337", 32768),), RECORDS, NOTHING),
    Case(
        "test_process_service_threshold",
        "Levels of the amount of a record itself.",
        (Level("0.1", 1, field="quantity"), Level("0.15", 2, field="quantity")),
        RECORDS,
        ("0.1", "0.15", "0.15", "0.1"),
    ),
    Case("test_update_result_flat, 1", "Of several prices in a group the highest counts.", (Mapped("1"),), ANY, ("1",)),
    Case("test_update_result_flat, 2", "The same.", (Mapped("1"), Mapped("0.5")), ANY, ("1",)),
    Case("test_update_result_flat, 3", "The same.", (Mapped("1"), Mapped("0.5"), Mapped("1.5")), ANY, ("1.5",)),
    *(
        Case(
            f"test_update_result_rate, {len(rates)}",
            "Rates of a group multiply (over a price of 1).",
            (Mapped("1"), *(Mapped(rate, rate=True) for rate in rates)),
            ANY,
            (price,),
        )
        for rates, price in ((("0.5",), "0.5"), (("0.5", "0.5"), "0.25"), (("0.5", "0.5", "1"), "0.25"))
    ),
    *(
        Case(
            f"test_update_result_threshold, {count}",
            "Of several levels the highest counts.",
            (Level("0.01", 0), Level("1", 10), Level("1.1", 15), Level("2.2", 10))[:count],
            (Instances({"memory": "20"}),),
            (price,),
        )
        for count, price in ((1, "0.01"), (2, "1"), (3, "1.1"), (4, "1.1"))
    ),
    Case(
        "test_process_rating",
        "All of it: a price of the service, flavours, cores, a rate by image and levels of memory, in three groups.",
        (
            Mapped("1.00"),
            Mapped("1.337", NANO, FIRST),
            Mapped("1.42", TINY, FIRST),
            Mapped("16.0", {"vcpus": "8"}, SECOND),
            Mapped("1.10", {"image_id": DEV}, FIRST, rate=True),
            Level("0.15", 64, group=FIRST),
            Level("0.2", 128, group=FIRST),
        ),
        RECORDS,
        ("2.487", "5.564", "34.4", "2.6357"),
    ),
)  # fmt: skip
OTHERS = 45  # of its 58 tests
