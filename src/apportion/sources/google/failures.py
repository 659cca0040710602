"""What BigQuery's client raises, as what a person can do about it. No credential is in any of it."""

from collections.abc import Iterator
from concurrent.futures import TimeoutError as WaitedError
from contextlib import contextmanager
from typing import Any

from apportion.errors import InputError
from apportion.sources.google.settings import How

MENDING = "the identity needs the roles BigQuery Job User on the project and BigQuery Data Viewer on the dataset"
BUSY = ("quotaExceeded", "rateLimitExceeded", "jobRateLimitExceeded")


@contextmanager
def failures(how: How) -> Iterator[None]:
    from google.api_core import exceptions as known  # noqa: PLC0415
    from google.auth import exceptions as login  # noqa: PLC0415
    from requests import exceptions as wire  # noqa: PLC0415

    try:
        yield
    except known.RetryError as error:
        raise cause_of(error.cause, how) from None
    except (known.GoogleAPICallError, login.GoogleAuthError, wire.RequestException, WaitedError) as error:
        raise cause_of(error, how) from None
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            "bad-response", f"BigQuery did not answer as it should ({type(error).__name__}: {error})", where=how.where
        ) from error


def cause_of(error: Any, how: How) -> InputError:
    from google.api_core import exceptions as known  # noqa: PLC0415
    from google.auth import exceptions as login  # noqa: PLC0415
    from requests import exceptions as wire  # noqa: PLC0415

    if isinstance(error, known.GoogleAPICallError):
        return answered(error, how)
    if isinstance(error, wire.SSLError):
        return InputError("tls-failed", "the certificate of BigQuery's address is not trusted", where=how.where)
    if isinstance(error, (wire.Timeout, WaitedError)):
        return InputError(
            "too-slow", "BigQuery did not answer in time", where=how.where, hint="raise timeout_s of the source"
        )
    if isinstance(error, login.GoogleAuthError) and not isinstance(error, login.TransportError):
        return InputError(
            "login-refused",
            f"there are no credentials for Google Cloud ({type(error).__name__})",
            where=how.where,
            hint="gcloud auth application-default login, or service_account of the source",
        )
    return InputError(
        "unreachable",
        f"BigQuery cannot be reached ({type(error).__name__})",
        where=how.where,
        hint="is the network there?",
    )


def answered(error: Any, how: How) -> InputError:
    """BigQuery is there, and says no."""
    reasons = {str(each.get("reason", "")) for each in error.errors if isinstance(each, dict)}
    said = f"{error.code} {' '.join(str(error.message).split())[:200]}"
    if "bytesBilledLimitExceeded" in reasons:
        return InputError(
            "too-large",
            f"BigQuery would be billed for more bytes than allowed: {said}",
            where=how.where,
            hint="raise maximum_bytes_billed of the source",
        )
    if error.code == 429 or reasons & set(BUSY):
        return InputError("rate-limited", f"BigQuery is busy: {said}", where=how.where, hint="ask again later")
    if error.code in (401, 403):
        return InputError("login-refused", f"BigQuery refuses: {said}", where=how.where, hint=MENDING)
    if error.code == 404:
        return InputError(
            "no-such-file",
            f"BigQuery has no {how.table.name}, or does not show it: {said}",
            where=how.where,
            hint="see project, dataset, billing_account and location of the source",
        )
    code = "unreachable" if error.code >= 500 else "bad-response"
    return InputError(code, f"BigQuery answered {said}", where=how.where)
