"""The two bills of the month in FOCUS 1.2 columns: a cloud that bills in UTC, and the own data centre that bills in local days."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction

from apportion.model.money import plain
from apportion.model.times import DAY_S, Interval, days, instant_text
from apportion.sources.demo.calendar import ZONE, Calendar
from apportion.sources.demo.fleet import CLOUD, Node
from apportion.sources.demo.flows import FILE_SYSTEMS, GATEWAYS, GIB, Flow
from apportion.sources.demo.month import Month
from apportion.sources.demo.planting import CHEAP_HOURS

CLOUD_ISSUER, OWN_ISSUER = "Example Cloud", "Own Data Centre"
COMMITTED_NODES = 20  # H100 nodes under a one-year commitment; one more unit of it is left unused for three days
H100_LIST, H100_CONTRACTED = Decimal("98.32"), Decimal("78.656")
H100_EFFECTIVE = Decimal("52.7310958904109589")  # 461,924.40 a year over 8,760 hours
H100_CHEAP = Decimal("0.6")  # in the cheap hours of another contract, where waste is planted
L40S_DAY = Decimal("214.7328")
A100_MONTH, CPU_DAY = Decimal("7413.19"), Decimal("21.8634")
GIB_MONTH = {"datasets": Decimal("0.0225"), "checkpoints": Decimal("0.0416")}
GIB_SENT = Decimal("0.0512345")
KWH_DAY, KWH_NIGHT = Decimal("0.148721"), Decimal("0.0933157")
OVERHEAD_OF_POWER = Fraction(131, 100)  # cooling and losses of the data centre
DIGITS = Decimal(1).scaleb(-14)


@dataclass(frozen=True, slots=True)
class Line:
    """One charge; `more` holds whatever other FOCUS columns it fills."""

    charge: Interval
    service: str
    category: str  # of the service
    effective: Decimal
    description: str
    account: str = ""
    kind: str = "Usage"
    tags: dict[str, str] = field(default_factory=dict)
    more: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Bill:
    name: str
    issuer: str
    account: str
    billing: Interval
    lines: list[Line]

    @property
    def total(self) -> Decimal:
        return sum((line.effective for line in self.lines), Decimal(0))

    def rows(self) -> Iterator[dict[str, str]]:
        for line in self.lines:
            yield focus_row(self, line)


def focus_row(bill: Bill, line: Line) -> dict[str, str]:
    cost = plain(line.effective)
    row = {
        "ProviderName": bill.issuer, "PublisherName": bill.issuer, "InvoiceIssuerName": bill.issuer,
        "InvoiceId": f"{bill.name}-{instant_text(bill.billing.start_s)[:7]}",
        "BillingAccountId": bill.account, "BillingAccountName": "ML infrastructure", "BillingCurrency": "USD",
        "BillingPeriodStart": instant_text(bill.billing.start_s), "BillingPeriodEnd": instant_text(bill.billing.end_s),
        "ChargePeriodStart": instant_text(line.charge.start_s), "ChargePeriodEnd": instant_text(line.charge.end_s),
        "ChargeCategory": line.kind, "ChargeDescription": line.description, "ChargeFrequency": "Usage-Based",
        "BilledCost": cost, "EffectiveCost": cost, "ContractedCost": cost, "ListCost": cost,
        "ServiceCategory": line.category, "ServiceName": line.service,
        "SubAccountId": line.account, "SubAccountName": line.account, "PricingCategory": "Standard" if line.kind == "Usage" else "",
    }  # fmt: skip
    if line.tags:
        row["Tags"] = "{" + ", ".join(f'"{key}": "{value}"' for key, value in sorted(line.tags.items())) + "}"
    return row | line.more


def money(amount: Decimal | Fraction) -> Decimal:
    """At most 14 places, as vendors print them; the dust below a nano is there on purpose."""
    exact = Decimal(amount.numerator) / Decimal(amount.denominator) if isinstance(amount, Fraction) else amount
    return exact.quantize(DIGITS)


def make_bills(month: Month, volumes: list[Flow], traffic: list[Flow]) -> list[Bill]:
    calendar = month.calendar
    cloud = [*h100_lines(month), *commitment_lines(calendar), *l40s_lines(month), *storage_lines(calendar, volumes), *network_lines(calendar, traffic),
             *platform_lines(calendar)]  # fmt: skip
    cloud += followers(calendar, sum((line.effective for line in cloud), Decimal(0)), month.nodes[0])
    own = [*a100_lines(month), *cpu_lines(month), *power_lines(month), *operations_lines(calendar)]
    return [
        Bill("cloud", CLOUD_ISSUER, "710000000001", calendar.vendor_month, cloud),
        Bill("datacentre", OWN_ISSUER, "DC-1", calendar.month, own),
    ]


def resource(node: Node, kind: str) -> dict[str, str]:
    return {"ResourceId": node.instance, "ResourceName": node.name, "ResourceType": kind} | (
        {"RegionId": "us-west-x", "RegionName": "US West"} if node.group.site == CLOUD else {}
    )


def h100_lines(month: Month) -> Iterator[Line]:
    """Hourly, per node; most of them under the commitment, whose price a year divided by hours never ends in a cent."""
    nodes = [node for node in month.nodes if node.group.name == "h100"]
    for number, node in enumerate(nodes):
        committed = number < min(COMMITTED_NODES, len(nodes) - 1)
        shared = resource(node, "GPU instance") | {
            "ListCost": plain(H100_LIST), "ContractedCost": plain(H100_CONTRACTED), "ListUnitPrice": plain(H100_LIST),
            "ContractedUnitPrice": plain(H100_CONTRACTED), "PricingQuantity": "1", "PricingUnit": "Hours", "ConsumedQuantity": "1",
            "ConsumedUnit": "Hours", "SkuId": "gpu-8xh100", "ServiceSubcategory": "Virtual Machines",
        }  # fmt: skip
        if committed:
            shared |= commitment("Used") | {"BilledCost": "0", "PricingCategory": "Committed"}
        full = money(H100_EFFECTIVE) if committed else H100_CONTRACTED
        for start in range(month.calendar.vendor_month.start_s, month.calendar.vendor_month.end_s, 3600):
            cheap = month.planted is not None and month.calendar.local(start).hour in CHEAP_HOURS
            cost = money(full * H100_CHEAP) if cheap else full
            yield Line(Interval(start, start + 3600), "Example Compute", "Compute", cost, "8 x H100 instance hour", "ml-training",
                       tags={"node-group": "h100"}, more=shared)  # fmt: skip


def commitment(status: str) -> dict[str, str]:
    return {
        "CommitmentDiscountId": "cd-h100-1y", "CommitmentDiscountCategory": "Usage", "CommitmentDiscountType": "One year",
        "CommitmentDiscountStatus": status,
    }  # fmt: skip


def commitment_lines(calendar: Calendar) -> Iterator[Line]:
    """What was paid for the commitment (money out, nothing effective), and the unit of it that stood unused on the first three days."""
    month = calendar.vendor_month
    paid = money(H100_EFFECTIVE * COMMITTED_NODES * (month.seconds // 3600))
    yield Line(month, "Example Compute", "Compute", Decimal(0), "Commitment fee, no upfront", "ml-training", "Purchase",
               more=commitment("") | {"BilledCost": plain(paid), "ContractedCost": plain(paid), "ListCost": plain(paid),
                                      "ChargeFrequency": "Recurring", "PricingCategory": "Committed"})  # fmt: skip
    for day in range(3):
        start = month.start_s + day * DAY_S
        yield Line(Interval(start, start + DAY_S), "Example Compute", "Compute", money(H100_EFFECTIVE * 24), "Unused commitment, 1 unit", "ml-training",
                   more=commitment("Unused") | {"BilledCost": "0", "PricingCategory": "Committed"})  # fmt: skip


def l40s_lines(month: Month) -> Iterator[Line]:
    for node in month.nodes:
        if node.group.name != "l40s":
            continue
        for day in billed_days(month.calendar):
            yield Line(day, "Example Compute", "Compute", L40S_DAY, "4 x L40S instance day", "ml-serving", tags={"node-group": "l40s"},
                       more=resource(node, "GPU instance") | {"PricingQuantity": "24", "PricingUnit": "Hours"})  # fmt: skip


def billed_days(calendar: Calendar) -> list[Interval]:
    return [day for day in calendar.vendor_days() if day.start_s >= calendar.vendor_month.start_s]


def storage_lines(calendar: Calendar, volumes: list[Flow]) -> Iterator[Line]:
    count = len(billed_days(calendar))
    for system in FILE_SYSTEMS:
        for day in billed_days(calendar):
            held = sum(flow.amount for flow in volumes if flow.resource == f"fs-{system}" and flow.start == day.start_s)
            cost = money(Fraction(held, GIB * count) * Fraction(GIB_MONTH[system]))
            yield Line(day, "Example File Storage", "Storage", cost, f"{system}: GiB-months", "ml-shared",
                       more={"ResourceId": f"fs-{system}", "ResourceName": system, "ResourceType": "File system"})  # fmt: skip


def network_lines(calendar: Calendar, traffic: list[Flow]) -> Iterator[Line]:
    for gateway in GATEWAYS:
        for day in billed_days(calendar):
            sent = sum(
                flow.amount for flow in traffic if flow.resource == f"egress-{gateway}" and flow.start == day.start_s
            )
            cost = money(Fraction(sent, GIB) * Fraction(GIB_SENT))
            yield Line(day, "Example Network", "Networking", cost, "Data transfer out, GiB", gateway,
                       more={"ConsumedQuantity": str(sent), "ConsumedUnit": "Bytes"})  # fmt: skip


def platform_lines(calendar: Calendar) -> Iterator[Line]:
    """What the platform team runs for everyone, and the simulation software with its yearly seats."""
    tags = {"team": "ml-platform"}
    for day in billed_days(calendar):
        yield Line(day, "Example Kubernetes", "Compute", Decimal("14.4"), "Control plane day", "ml-shared", tags=tags)
        yield Line(
            day,
            "Example Monitoring",
            "Management and Governance",
            Decimal("61.20719733333333"),
            "Metric samples",
            "ml-shared",
            tags=tags,
        )
    yield Line(
        calendar.vendor_month,
        "Example Registry",
        "Developer Tools",
        Decimal("318.442"),
        "Container images",
        "ml-shared",
        tags=tags,
    )
    yield Line(calendar.vendor_month, "Simulation licence", "Other", Decimal(5400), "30 seats of robot and protein simulation", "ml-shared", "Purchase",
               more={"ChargeFrequency": "Recurring", "PricingQuantity": "30", "PricingUnit": "Seats"})  # fmt: skip


def followers(calendar: Calendar, usage: Decimal, node: Node) -> Iterator[Line]:
    """Lines that price nothing themselves: support, a credit for the outage, tax, and September's error put right in October."""
    month = calendar.vendor_month
    yield Line(
        month,
        "Example Support",
        "Other",
        money(usage * 3 / 100),
        "Support, 3 % of usage",
        more={"ChargeFrequency": "Recurring"},
    )
    yield Line(month, "Example Compute", "Compute", Decimal("-1581.93"), "Service credit: instance unavailable", "ml-training", "Credit",
               more={"ChargeFrequency": "One-Time"})  # fmt: skip
    yield Line(month, "Tax", "Other", money(usage * 3 / 100 * Decimal("0.0725")), "Sales tax on support", kind="Tax")
    late = Interval(month.start_s - 2 * DAY_S, month.start_s - DAY_S)
    yield Line(late, "Example Compute", "Compute", Decimal("-186.2440118437"), "Correction: 24 instance hours billed at the list price", "ml-training",
               tags={"node-group": "h100"}, more=resource(node, "GPU instance") | {"ChargeClass": "Correction"})  # fmt: skip


def a100_lines(month: Month) -> Iterator[Line]:
    """Depreciation and floor space, once a month per node."""
    for node in of_group(month, "a100"):
        yield Line(month.calendar.month, "GPU servers", "Compute", A100_MONTH, "8 x A100 server, month", "atlas", tags={"node-group": "a100"},
                   more=resource(node, "Server") | {"ChargeFrequency": "Recurring"})  # fmt: skip


def cpu_lines(month: Month) -> Iterator[Line]:
    """Daily, in local days: the bill of the house knows daylight saving."""
    for node in of_group(month, "cpu"):
        for _, day in days(month.calendar.month, ZONE):
            yield Line(day, "CPU servers", "Compute", CPU_DAY, "64-core server, day", "atlas",
                       tags={"node-group": "cpu"}, more=resource(node, "Server"))  # fmt: skip


def of_group(month: Month, name: str) -> Iterable[Node]:
    return [node for node in month.nodes if node.group.name == name]


def power_lines(month: Month) -> Iterator[Line]:
    """The utility's meter at the door: everything the machines drew, their idle draw and the cooling."""
    span = month.calendar.month
    drawn = sum(held.joules for held in month.held if held.node.group.site != CLOUD)
    idle = (
        sum((node.group.gpus * 189 or 420) * span.seconds for node in month.nodes if node.group.site != CLOUD) * 3 // 10
    )
    kwh = Fraction(drawn + idle, 3_600_000) * OVERHEAD_OF_POWER
    for share, price, words in ((58, KWH_DAY, "day tariff"), (42, KWH_NIGHT, "night tariff")):
        part = Fraction(round(kwh * share / 100 * 1000), 1000)
        unit = {"PricingUnit": "kWh", "ListUnitPrice": plain(price), "ContractedUnitPrice": plain(price)}
        yield Line(span, "Electricity", "Other", money(part * Fraction(price)), f"Utility bill, {words}", "site-1",
                   more={"PricingQuantity": plain(money(part))} | unit)  # fmt: skip


def operations_lines(calendar: Calendar) -> Iterator[Line]:
    tags = {"team": "ml-platform"}
    yield Line(calendar.month, "Data centre operations", "Other", Decimal("18250.00"), "Hands, spares and on-call", "site-1", tags=tags,
               more={"ChargeFrequency": "Recurring"})  # fmt: skip
    yield Line(
        calendar.month,
        "Backbone",
        "Networking",
        Decimal("2140.557"),
        "Cluster interconnect lease",
        "site-1",
        more={"ChargeFrequency": "Recurring"},
    )
