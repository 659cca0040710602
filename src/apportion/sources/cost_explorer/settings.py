"""The stanza of Cost Explorer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from apportion.errors import ProjectError
from apportion.sources.bills.bill import ROLES
from apportion.sources.settings import Stanza, nearest, stanza

SETTINGS = (
    "role", "group_by", "granularity", "account", "issuer", "profile", "role_arn", "region", "endpoint", "retries", "timeout_s",
    "allow_link_local",
)  # fmt: skip
GRANULARITIES = {"daily": "DAILY", "monthly": "MONTHLY"}
DIMENSIONS = {  # what a group becomes
    "SERVICE": "ServiceName", "LINKED_ACCOUNT": "SubAccountId", "RECORD_TYPE": "line_type", "REGION": "RegionId", "AZ": "AvailabilityZone",
    "USAGE_TYPE": "SkuMeter", "INSTANCE_TYPE": "ResourceType", "OPERATION": "SkuId", "PURCHASE_TYPE": "PricingCategory",
    "LEGAL_ENTITY_NAME": "InvoiceIssuerName", "BILLING_ENTITY": "ServiceProviderName", "RESOURCE_ID": "ResourceId",
}  # fmt: skip
TAG, CATEGORY = "tag:", "cost_category:"
ISSUER = "Amazon Web Services, Inc."


@dataclass(frozen=True, slots=True)
class How:
    source: str
    where: str
    path: str
    role: str
    group_by: tuple[str, ...]
    granularity: str
    account: str
    issuer: str

    def request(self) -> list[dict[str, str]]:
        """The groups as AWS wants them."""
        return [
            {"Type": "TAG", "Key": name.removeprefix(TAG)}
            if name.startswith(TAG)
            else {"Type": "COST_CATEGORY", "Key": name.removeprefix(CATEGORY)}
            if name.startswith(CATEGORY)
            else {"Type": "DIMENSION", "Key": name}
            for name in self.group_by
        ]


def how_of(settings: Mapping[str, Any]) -> tuple[How, Stanza]:
    found = stanza(settings, SETTINGS)
    groups = found.names("group_by", default=("SERVICE", "RECORD_TYPE"))
    if len(groups) > 2:
        raise ProjectError(
            "invalid-setting",
            f"group_by has {len(groups)} groups, and AWS takes at most two",
            where=found.where,
            hint='such as group_by = ["SERVICE", "LINKED_ACCOUNT"], or two stanzas',
        )
    for name in groups:
        if name not in DIMENSIONS and not (name.startswith((TAG, CATEGORY)) and not name.endswith(":")):
            raise ProjectError(
                "invalid-setting",
                f"group_by has no {name!r}",
                where=found.where,
                hint=nearest(name, [*DIMENSIONS, "tag:KEY", "cost_category:NAME"]),
            )
    how = How(
        found.text("name"),
        found.where,
        found.text("path", ""),
        found.word("role", ROLES, "reference"),
        groups,
        GRANULARITIES[found.word("granularity", GRANULARITIES, "daily")],
        found.text("account", ""),
        found.text("issuer", ISSUER),
    )
    return how, found
