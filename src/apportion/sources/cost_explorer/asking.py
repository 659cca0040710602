"""Asking AWS through boto3. Throttling and broken connections are tried again by boto3 itself, as its standard mode does."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from apportion.errors import InputError, ProjectError
from apportion.model.times import Interval
from apportion.sources.cost_explorer.settings import How
from apportion.sources.outside.addresses import check_host
from apportion.sources.settings import Stanza

METRICS = ["UnblendedCost", "AmortizedCost", "NetUnblendedCost", "NetAmortizedCost", "UsageQuantity"]
MOST_PAGES = 10_000
MENDING = "the identity needs ce:GetCostAndUsage, and Cost Explorer must be enabled for the account"
CODES = {
    "AccessDeniedException": ("login-refused", MENDING),
    "UnrecognizedClientException": ("login-refused", "see the credentials: `aws sts get-caller-identity`"),
    "InvalidClientTokenId": ("login-refused", "see the credentials: `aws sts get-caller-identity`"),
    "ExpiredTokenException": ("login-refused", "log in again"),
    "LimitExceededException": ("rate-limited", "ask again later, or less often: each call costs 0.01 USD"),
    "ThrottlingException": ("rate-limited", "ask again later, or less often: each call costs 0.01 USD"),
    "DataUnavailableException": (
        "bad-response",
        "Cost Explorer takes a day to prepare its data when it is first enabled",
    ),
}


@dataclass(frozen=True, slots=True)
class Asked:
    client: Any
    how: How
    account: str
    host: str

    def pages(self, span: Interval) -> Iterator[dict[str, Any]]:
        """Until AWS names no next page."""
        request: dict[str, Any] = {
            "TimePeriod": {"Start": day(span.start_s), "End": day(span.end_s)},
            "Granularity": self.how.granularity,
            "Metrics": METRICS,
        }
        if self.how.group_by:
            request["GroupBy"] = self.how.request()
        for _ in range(MOST_PAGES):
            with failures(self.host, self.how.where):
                body = self.client.get_cost_and_usage(**request)
            yield body
            token = body.get("NextPageToken")
            if not token:
                return
            request["NextPageToken"] = token
        raise InputError("bad-response", f"{self.host} never comes to its last page", where=self.how.where)


def day(second: int) -> str:
    return datetime.fromtimestamp(second, tz=UTC).strftime("%Y-%m-%d")


@contextmanager
def asking(how: How, found: Stanza) -> Iterator[Asked]:
    library, config = client_library(how.where)
    endpoint = found.text("endpoint", "") or os.environ.get("AWS_ENDPOINT_URL", "")
    if endpoint:
        parts = urlsplit(endpoint)
        check_host(parts.hostname or "", parts.port or 443, how.where, allowed=found.flag("allow_link_local"))
    options: dict[str, Any] = {
        "region_name": found.text("region", "us-east-1"),  # Cost Explorer's only one, but for China's
        "config": config(
            retries={"mode": "standard", "total_max_attempts": found.number("retries", 4, 0, 20) + 1},
            connect_timeout=found.number("timeout_s", 60, 1, 3600),
            read_timeout=found.number("timeout_s", 60, 1, 3600),
        ),
        **({"endpoint_url": endpoint} if endpoint else {}),
    }
    host = urlsplit(endpoint).netloc or "AWS"
    with failures(host, how.where):
        session = assumed(library, found, options)
        client = session.client("ce", **options)
        account = how.account or str(session.client("sts", **options).get_caller_identity()["Account"])
    yield Asked(client, how, account, host)


def assumed(library: Any, found: Stanza, options: dict[str, Any]) -> Any:
    """The session of the profile, or of the role that it may take on."""
    session = library.Session(profile_name=found.text("profile", "") or None)
    role = found.text("role_arn", "")
    if not role:
        return session
    given = session.client("sts", **options).assume_role(RoleArn=role, RoleSessionName="apportion")["Credentials"]
    return library.Session(
        aws_access_key_id=given["AccessKeyId"],
        aws_secret_access_key=given["SecretAccessKey"],
        aws_session_token=given["SessionToken"],
    )


def client_library(where: str) -> tuple[Any, Any]:
    try:
        import boto3  # noqa: PLC0415 - an extra, and slow
        from botocore.config import Config  # noqa: PLC0415
    except ImportError as error:
        raise ProjectError(
            "aws-missing",
            f"AWS is asked, and its Python client is not installed ({error})",
            where=where,
            hint='pip install "apportion[aws]"',
        ) from error
    return boto3, Config


@contextmanager
def failures(host: str, where: str) -> Iterator[None]:
    """What boto3 says, as a sentence with what to do. No credential is in any of it."""
    from botocore import exceptions as known  # noqa: PLC0415

    try:
        yield
    except known.ClientError as error:
        told = error.response.get("Error", {})
        code, hint = CODES.get(str(told.get("Code")), ("bad-response", "see what AWS says"))
        raise InputError(
            code, f"{host} refuses: {told.get('Code')}: {str(told.get('Message'))[:200]}", where=where, hint=hint
        ) from None
    except (
        known.NoCredentialsError,
        known.PartialCredentialsError,
        known.ProfileNotFound,
        known.TokenRetrievalError,
    ) as error:
        raise InputError(
            "login-refused",
            f"there are no credentials for AWS ({error})",
            where=where,
            hint="log in as for the AWS CLI, or set profile or role_arn",
        ) from None
    except known.SSLError:
        raise InputError("tls-failed", f"the certificate of {host} is not accepted", where=where) from None
    except (known.ConnectTimeoutError, known.ReadTimeoutError):
        raise InputError(
            "too-slow", f"{host} does not answer in time", where=where, hint="ask again, or raise timeout_s"
        ) from None
    except (known.ConnectionError, known.HTTPClientError) as error:
        raise InputError(
            "unreachable",
            f"{host} cannot be reached ({type(error).__name__})",
            where=where,
            hint="is the network there?",
        ) from None
    except known.BotoCoreError as error:
        raise InputError("bad-response", f"{host}: {error}", where=where) from None
