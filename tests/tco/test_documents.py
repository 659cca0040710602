"""What an inventory may look like, and what is refused: each mistake with its place and what to do about it."""

import json
from pathlib import Path
from typing import Any

import pytest

from apportion.errors import ApportionError
from apportion.sources.tco.clauses import Clause
from apportion.sources.tco.document import (
    Asset,
    Inventory,
    Lease,
    Maintenance,
    Move,
    Other,
    Software,
    Staff,
    Upgrade,
)
from tests.logs.test_price_lists import write_xlsx
from tests.tco import making
from tests.tco.making import ASSET

HEAD = "inventory: room\ncurrency: EUR\n"
GOOD = "id: n1, price: 100, bought: 2026-01-01, life_months: 10"
LONG = HEAD + "assets:\n  - id: n1\n    price: 1\n    bought: 2026-01-01\n    life_months: 10\n    upgrades:\n"
BOMB = "a: &a [x, x]\n" + "".join(
    f"b{n}: &b{n} [" + ", ".join([f"*b{n - 1}" if n else "*a"] * 12) + "]\n" for n in range(7)
)


def asset(keys: str) -> str:
    return f"{HEAD}assets:\n  - {{{keys}}}\n"


# The sign @ stands before what is wrong.
WRONG = [
    ("an unknown key", asset("id: n1, node: n1, @prize: 100"), "inventory-key", "there is no key 'prize' here", "did you mean 'price'?"),
    ("an unknown section", HEAD + "@asets: []\n", "inventory-key", "there is no key 'asets' here", "did you mean 'assets'?"),
    ("a missing key", asset("id: n1, node: n1").replace("{id", "@{id"), "inventory-key", "the key 'price' is missing", "add price: ..."),
    ("no number", asset(GOOD.replace("100", "@100k")), "inventory-value", "'100k' is not a number", "digits"),
    ("a negative price", asset(GOOD.replace("100", "@-1")), "inventory-value", "-1 is out of bounds", "at least 0"),
    ("a huge price", asset(GOOD.replace("100", "@1e80")), "inventory-value", "is too large", "zeros"),
    ("no such day", asset(GOOD.replace("2026-01-01", "@2026-02-30")), "inventory-value", "there is no day 2026-02-30", "2026-10-01"),
    ("a day in another order", asset(GOOD.replace("2026-01-01", "@30.01.2026")), "inventory-value", "expected a day", "2026-10-01"),
    ("a day of another age", asset(GOOD.replace("2026-01-01", "@0026-01-01")), "inventory-value", "outside 1970 to 2200", ""),
    ("half a month", asset(GOOD.replace("10", "@9.5").replace("@9.50", "100")), "inventory-value", "9.5 is not a whole number", ""),
    ("salvage above the price", asset(GOOD + ", salvage: @200"), "inventory-value", "more than the price", "at most the price"),
    ("salvage of more than all", asset(GOOD + ", salvage: @101%"), "inventory-value", "out of bounds", "at most 100"),
    ("an unknown method", asset(GOOD + ", method: @decline"), "inventory-value", "straight_line, declining", "did you mean 'declining'?"),
    ("an unknown kind", asset(GOOD + ", kind: @sever"), "inventory-value", "server, gpu, switch", "did you mean 'server'?"),
    ("declining by nothing", asset(GOOD + ", method: @declining"), "inventory-value", "needs a rate", "rate: double"),
    ("a rate of a straight line", asset(GOOD + ", rate: @40"), "inventory-value", "of method declining", "percent a year"),
    ("sold too early", asset(GOOD + ", disposed: @2025-01-01"), "inventory-order", "before it was there", "first on which it is gone"),
    ("proceeds of nothing", asset(GOOD + ", proceeds: @5"), "inventory-value", "come of a disposal", "add disposed"),
    ("serves too early", asset(GOOD + ", in_service: @2025-12-31"), "inventory-order", "before it was bought", ""),
    ("an upgrade after the end", LONG + "      - {on: @2027-01-01, price: 5}\n", "inventory-order", "the life is over by 2027-01-01", "extends_months"),
    ("an upgrade too early", LONG + "      - {on: @2026-01-01, price: 5}\n", "inventory-order", "2026-01-01 is out of order", "after 2026-01-01"),
    ("too much replaced", LONG + "      - {on: 2026-02-01, price: 5, replaces: @2}\n", "inventory-order", "more is replaced than there is", "at most 1.00"),
    ("two bearers", asset(GOOD + ", node: a, shared_by: @b"), "inventory-value", "node and shared_by cannot both be given", "spreads it"),
    ("a glob as one node", asset(GOOD + ", node: @'b*'"), "inventory-value", "'b*' is no name of one node", "shared_by"),
    ("a glob among nodes", asset(GOOD + ", nodes: @[a, 'b*']"), "inventory-value", "'b*' is no name of one node", "shared_by"),
    ("a node twice", asset(GOOD + ", nodes: @['n[1-3]', n2]"), "inventory-value", "'n2' is named twice", "name each once"),
    ("a million nodes", asset(GOOD + ", nodes: @'n[1-999999]'"), "inventory-value", "too many names", "at most 20,000"),
    ("a million nodes in two", asset(GOOD + ", nodes: @'n[1-1000]-[1-1000]'"), "inventory-value", "1,000,000 names", "at most 20,000"),
    ("a move of what each has", asset(GOOD + ", nodes: [a, b], moves: @[{on: 2026-02-01, node: c}]"), "inventory-value", "can move", "its own entry"),
    ("a move to nowhere", asset(GOOD + ", node: a, moves: [@{on: 2026-02-01}]"), "inventory-value", "a move goes to a node", "one of the two"),
    ("a weight of nothing", asset(GOOD + ", shared_by: @{a: 0}"), "inventory-value", "a number above 0", "leave out"),
    ("an id twice", asset(GOOD) + "staff: [{id: @n1, annual_cost: 1, from: 2026-01-01}]\n", "inventory-twice", "first in assets", "its own id"),
    ("a key twice", asset("id: n1, @id: n2"), "inventory-twice", "'id' is given twice, first at inventory.yaml:4:6", "keep one"),
    ("no value", asset("id: n1, @price: "), "inventory-value", "'price' has no value", "leave the key out"),
    ("an unknown currency", "currency: @EURO\n", "inventory-value", "there is no currency 'EURO'", "ISO 4217"),
    ("no currency", f"assets: [{{{GOOD}}}]\n", "inventory-key", "no currency is given", "currency: EUR"),
    ("no YAML", "assets: [\n@", "inventory-text", "not readable YAML", "brackets"),
    ("a tag", "assets: @!python/object x\n", "inventory-text", "tags such as", ""),
    ("words alone", "just words\n", "inventory-value", "expected keys and values", "inventory: NAME"),
    ("a mapping of assets", HEAD + "assets: @{id: n1}\n", "inventory-value", "expected a list, found a mapping", ""),
    ("a bomb of aliases", BOMB, "inventory-text", "at most 1,000,000 values", "CSV"),
    ("an anchor in itself", "assets: &a [*a]\n", "inventory-text", "nested at most", ""),
    ("until before from", HEAD + "leases: [{id: l, price: 1, from: 2026-02-01, until: @2026-01-01}]\n", "inventory-order", "before from", "last day"),
    ("up front without an end", HEAD + "leases: [{id: l, price: 1, from: 2026-02-01, up_front: @5}]\n", "inventory-value", "has no end", "until"),
    ("per socket on a node", HEAD + "software: [{id: s, price: 1, per: @socket, node: a, from: 2026-02-01}]\n", "inventory-value", "borne by", "nodes"),
    ("once without an end", HEAD + "other: [{id: s, service: x, price: 1, every: @once, from: 2026-02-01}]\n", "inventory-value", "no end", "until"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "code", "message", "hint"), [case[1:] for case in WRONG], ids=[case[0] for case in WRONG]
)
def test_a_wrong_document_is_refused_with_its_place(
    tmp_path: Path, text: str, code: str, message: str, hint: str
) -> None:
    before, found, after = text.partition("@")
    (tmp_path / "inventory.yaml").write_text(before + after, "utf-8")
    with pytest.raises(ApportionError) as refused:
        making.deliver(tmp_path, since="2026-01", until="2026-03")
    assert refused.value.code == code
    assert message in refused.value.message
    assert hint in refused.value.hint
    if found:
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        assert refused.value.where == f"inventory.yaml:{line}:{column}"
    else:
        assert refused.value.where.startswith("inventory.yaml")


MODELS = (Inventory, Asset, Upgrade, Move, Lease, Maintenance, Staff, Software, Other)
REFERENCE = Path(__file__).resolve().parents[2] / "docs/reference/sources.md"


@pytest.mark.parametrize("model", MODELS, ids=lambda model: str(model.__name__))
def test_every_key_is_in_the_reference(model: type[Clause]) -> None:
    section = REFERENCE.read_text("utf-8").partition("# The inventory\n")[2].partition("\n# ")[0]
    keys = {field.alias or name for name, field in model.model_fields.items()}
    assert {key for key in keys if f"`{key}`" not in section} == set()


def effective(base: Path, **settings: Any) -> dict[tuple[str, str], str]:
    rows = making.lines(making.deliver(base, since="2026-01", until="2026-01", **settings))
    return {(row["SkuId"], row["ResourceId"]): f"{row['EffectiveCost']:.2f}" for row in rows}


def test_a_list_of_servers_beside_the_document(tmp_path: Path) -> None:
    (tmp_path / "inventory.yaml").write_text(
        HEAD + f"lists: servers.csv\nassets: [{{{GOOD.replace('100', '3040')}, node: n1}}]\n", "utf-8"
    )
    (tmp_path / "servers.csv").write_text(
        "id,node,price,bought,life_months,salvage,team,tag.rack\ns1,s1,3040,2026-01-01,10,,vision,r1\ns2,,6080,2026-01-01,10,50%,,\n",
        "utf-8",
    )
    assert effective(tmp_path) == {("n1", "n1"): "310.00", ("s1", "s1"): "310.00", ("s2", "s2"): "310.00"}
    (found,) = making.deliver(tmp_path, since="2026-01", until="2026-01")
    assert dict(found.tables["cost_lines"]["Tags"][1].as_py()) == {"team": "vision", "rack": "r1"}
    assert [(file.name, file.rows, file.control) for file in found.files] == [
        ("inventory.yaml", 1, "3040"),
        ("servers.csv", 2, "9120"),
    ]


@pytest.mark.parametrize(("cell", "where", "message"), [
    ("12.000,50", "servers.csv:3 (price)", "is not a number"), ("", "servers.csv:3", "the key 'price' is missing"),
])  # fmt: skip
def test_a_mistake_in_a_list_is_told_with_its_row(tmp_path: Path, cell: str, where: str, message: str) -> None:
    (tmp_path / "servers.csv").write_text(
        f'id,price,bought,life_months\na,1,2026-01-01,3\nb,"{cell}",2026-01-01,3\n', "utf-8"
    )
    with pytest.raises(ApportionError) as refused:
        making.deliver(tmp_path, path="servers.csv", currency="EUR")
    assert (refused.value.where, message in refused.value.message) == (where, True)


def test_a_folder_a_list_alone_and_toml_say_the_same(tmp_path: Path) -> None:
    asset = {"id": "n1", "node": "n1", "price": "3040.00", "bought": "2026-01-01", "life_months": "10"}
    for name in ("folder", "lists", "toml", "csv"):
        (tmp_path / name).mkdir()
    (tmp_path / "folder/inventory.yaml").write_text(json.dumps({"currency": "EUR", "assets": [asset]}), "utf-8")
    table = ",".join(asset) + "\n" + ",".join(asset.values()) + "\n"
    (tmp_path / "lists/servers.csv").write_text(table, "utf-8")
    (tmp_path / "toml/inventory.toml").write_text(
        'currency = "EUR"\n[[assets]]\nid = "n1"\nnode = "n1"\nprice = 3040.00\nbought = 2026-01-01\nlife_months = 10\n',
        "utf-8",
    )
    found = [
        making.lines(making.deliver(tmp_path, path=path, since="2026-01", until="2026-01", currency="EUR"))
        for path in ("folder", "lists", "lists/servers.csv", "toml", "toml/inventory.toml")
    ]
    assert found[0][0]["EffectiveCost"] == 310
    assert all(one == found[0] for one in found)


def test_a_spreadsheet_of_servers(tmp_path: Path) -> None:
    write_xlsx(
        tmp_path / "servers.xlsx",
        [
            ["id", "node", "price", "bought", "life_months"],
            ["s1", "s1", 3040.0, "2026-01-01", 10.0],
            ["s2", "s2", 30.4, "2026-01-01", 10.0],
        ],
    )
    assert effective(tmp_path, path="servers.xlsx", currency="EUR") == {("s1", "s1"): "310.00", ("s2", "s2"): "3.10"}
    write_xlsx(tmp_path / "servers.xlsx", [["id", "prize"], ["s1", 3040.0]])
    with pytest.raises(ApportionError) as refused:
        effective(tmp_path, path="servers.xlsx", currency="EUR")
    assert refused.value.where == "servers.xlsx: row 2 (prize)"
    (tmp_path / "servers.xlsx").write_bytes(b"PK no spreadsheet")
    with pytest.raises(ApportionError) as refused:
        effective(tmp_path, path="servers.xlsx", currency="EUR")
    assert refused.value.code == "corrupt-file"


def test_a_mistake_in_toml_is_told_with_its_path(tmp_path: Path) -> None:
    (tmp_path / "inventory.toml").write_text('currency = "EUR"\n[[assets]]\nid = "n1"\nprize = 3\n', "utf-8")
    with pytest.raises(ApportionError) as refused:
        making.deliver(tmp_path, path="inventory.toml")
    assert refused.value.where == "inventory.toml: assets[1].prize"


def test_months_without_a_line_are_delivered_and_replace(tmp_path: Path) -> None:
    base = making.put(tmp_path, assets=[{**ASSET, "bought": "2026-03-15"}])
    found = making.deliver(base, since="2026-01", until="2026-03")
    assert [one.tables["cost_lines"].num_rows for one in found] == [0, 0, 1]
    assert len(making.deliver(base, until="2026-03")) == 1  # without since, from the first purchase


@pytest.mark.parametrize(("settings", "code"), [
    ({"sinse": "2026-01"}, "unknown-setting"), ({"since": "January"}, "invalid-period"), ({"since": "2026-03", "until": "2026-01"}, "inventory-order"),
    ({"since": "1990-01", "until": "2026-01"}, "window-too-wide"), ({"currency": "EURO"}, "invalid-setting"), ({"path": "nothing.yaml"}, "no-such-file"),
])  # fmt: skip
def test_a_wrong_stanza_is_refused(tmp_path: Path, settings: dict[str, str], code: str) -> None:
    with pytest.raises(ApportionError) as refused:
        making.deliver(making.put(tmp_path, assets=[ASSET]), **settings)
    assert refused.value.code == code
