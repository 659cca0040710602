"""What obstore raises, as what a person can do about it. Only the status and the store's own code are told: other words may quote a signed address."""

import re

from obstore.exceptions import BaseError, InvalidPathError, PreconditionError

from apportion.errors import InputError

RAISED = (BaseError, OSError, ValueError)
STATUS = re.compile(r"non-2xx status code: (\d{3})")
CODE = re.compile(r"<Code>([A-Za-z.]{1,60})</Code>")
NOT_TRUSTED = ("InvalidCertificate", "CertificateError", "InvalidContentType", "HandshakeFailure", "AlertReceived")
NO_CREDENTIALS = ("169.254.169.254", "/latest/api/token", "/latest/meta-data/", "token request", "redential error")
NO_BUCKET = ("NoSuchBucket", "ContainerNotFound", "ContainerBeingDeleted", "ContainerDisabled")
BUSY = ("SlowDown", "TooManyRequests", "ServerBusy", "RequestLimitExceeded", "Throttling", "ThrottlingException")
NO_LOCATION = "redirect without LOCATION"  # of S3, for a bucket of another region
CREDENTIALS = {
    "s3": "access_key and secret_key, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; they need s3:ListBucket and s3:GetObject",
    "gs": "service_account, or GOOGLE_APPLICATION_CREDENTIALS; it needs storage.objects.list and storage.objects.get",
    "az": "account_key or sas_token, or AZURE_STORAGE_ACCOUNT_KEY; they need to list and read blobs",
}


def failure(error: Exception, name: str, where: str) -> InputError:
    """`name` is the address that was asked for."""
    text = str(error)
    status = int(found[1]) if (found := STATUS.search(text)) else 0
    code = found[1] if (found := CODE.search(text)) else ""
    said = " ".join(filter(None, (str(status or ""), code)))
    if isinstance(error, InvalidPathError):
        return InputError(
            "unreadable-file",
            f"a name under {name} has an empty part or a part of dots, which cannot be asked for",
            where=where,
            hint="rename that object, or let path begin below it",
        )
    if isinstance(error, PreconditionError) or status == 412:
        return changed(name, where)
    if code in NO_BUCKET:
        return absent(f"there is no bucket or container for {name} ({code})", where)
    if isinstance(error, FileNotFoundError) or status == 404:
        return absent(f"there is no object {name}", where)
    asked_for = text.partition(" - Server returned")[0].partition("Debug source")[0]
    if any(word in asked_for for word in NO_CREDENTIALS):
        return no_credentials(name, where)
    return answered(status, said, name, where) if said or NO_LOCATION in text else unanswered(text, name, where)


def no_credentials(name: str, where: str) -> InputError:
    return InputError(
        "login-refused",
        f"no credentials were found for {name}",
        where=where,
        hint=f"set {CREDENTIALS[name.partition(':')[0]]}; or anonymous = true for what everybody may read",
    )


def answered(status: int, said: str, name: str, where: str) -> InputError:
    """The store is there, and says no."""
    if status in (401, 403):
        hint = f"see {CREDENTIALS[name.partition(':')[0]]}"
        return InputError("login-refused", f"{name} may not be read ({said})", where=where, hint=hint)
    if status == 429 or any(word in said for word in BUSY):
        message = f"{name}: the store asks for fewer requests ({said})"
        return InputError("rate-limited", message, where=where, hint="try later")
    if status >= 500:
        return InputError("unreachable", f"{name}: the store is busy ({said})", where=where, hint="try later")
    return InputError(
        "bad-response",
        f"{name}: the store answered {said or 'that it is in another region'}",
        where=where,
        hint="see region, endpoint and account of the source",
    )


def unanswered(text: str, name: str, where: str) -> InputError:
    """The way there is the trouble."""
    if any(word in text for word in NOT_TRUSTED):
        return InputError(
            "tls-failed",
            f"the certificate of the server of {name} is not trusted",
            where=where,
            hint="set ca_file to the authority that signed it; the check cannot be switched off",
        )
    if "TimedOut" in text or "kind: Timeout" in text:
        message = f"{name}: the store did not answer in time"
        return InputError("too-slow", message, where=where, hint="raise timeout_s of the source")
    if "body error" in text:
        return InputError("half-response", f"{name} broke off while it was fetched", where=where, hint="try again")
    if "HTTP error" not in text:
        message = f"{name}: what answers there does not answer as a store"
        return InputError("bad-response", message, where=where, hint="see endpoint of the source")
    return InputError(
        "unreachable",
        f"{name}: the store cannot be reached",
        where=where,
        hint="see endpoint and account of the source, and whether the server runs",
    )


def absent(message: str, where: str) -> InputError:
    return InputError(
        "no-such-file", message, where=where, hint="see path of the source; names in a store are told apart by case"
    )


def changed(name: str, where: str) -> InputError:
    return InputError(
        "object-changed",
        f"{name} changed, or was removed, while it was fetched",
        where=where,
        hint="it is being written: read it again when its delivery is whole",
    )
