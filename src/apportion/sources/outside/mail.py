"""One mail to somebody's server: encrypted unless it is said otherwise, within a time, and with no secret in any error."""

import smtplib
import ssl
from contextlib import suppress
from dataclasses import dataclass
from email.message import EmailMessage

from apportion.errors import InputError
from apportion.sources.outside.secrets import Secret

TIMEOUT_S = 10
PORTS = {"starttls": 587, "tls": 465, "none": 25}  # how a connection is kept from listeners, and its usual port


@dataclass(frozen=True, slots=True)
class MailServer:
    """Without `username` nobody logs in. `ca_file`: the authority that signed the server's certificate, where the system's do not."""

    host: str
    port: int
    tls: str = "starttls"
    username: str = ""
    password: Secret | None = None
    ca_file: str = ""

    @property
    def place(self) -> str:
        return f"{self.host}:{self.port}"


def send_mail(server: MailServer, message: EmailMessage) -> str:
    """What the server answered: `250`, with how many it would not have. An error names the server and a code, never what it said."""
    try:
        with opened(server) as smtp:
            if server.password is not None:
                smtp.login(server.username, server.password.reveal())
            refused = smtp.send_message(message)
    except smtplib.SMTPAuthenticationError as error:
        raise InputError("login-refused", f"{server.place} refused the login ({error.smtp_code})") from None
    except smtplib.SMTPRecipientsRefused as error:
        raise InputError("mail-refused", f"{server.place} refused {told(error.recipients)}") from None
    except smtplib.SMTPResponseException as error:
        raise InputError("mail-refused", f"{server.place} refused the mail ({error.smtp_code})") from None
    except smtplib.SMTPNotSupportedError:
        raise InputError("mail-refused", f"{server.place} offers no {lacking(server)}") from None
    except ssl.SSLCertVerificationError as error:
        raise InputError(
            "tls-failed", f"the certificate of {server.place} is not trusted: {error.verify_message}"
        ) from None
    except TimeoutError:
        raise InputError("too-slow", f"{server.place} did not answer in {TIMEOUT_S} s") from None
    except (OSError, smtplib.SMTPException, UnicodeError) as error:
        raise InputError("unreachable", f"{server.place} cannot be reached: {type(error).__name__}") from None
    return f"250, but {told(refused)} refused" if refused else "250"


def opened(server: MailServer) -> smtplib.SMTP:
    context = trust(server)
    if server.tls == "tls":
        return smtplib.SMTP_SSL(server.host, server.port, timeout=TIMEOUT_S, context=context)
    smtp = smtplib.SMTP(server.host, server.port, timeout=TIMEOUT_S)
    if server.tls == "starttls":
        try:
            smtp.starttls(context=context)
        except (OSError, smtplib.SMTPException):
            with suppress(OSError, smtplib.SMTPException):
                smtp.close()
            raise
    return smtp


def trust(server: MailServer) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=server.ca_file or None)
    except OSError as error:
        raise InputError(
            "unreadable-file", f"the authority {server.ca_file} cannot be read: {error.strerror}", where=server.ca_file
        ) from None


def told(refused: dict[str, tuple[int, bytes]]) -> str:
    codes = sorted({str(code) for code, _ in refused.values()})
    return f"{len(refused)} of the addresses ({', '.join(codes)})"


def lacking(server: MailServer) -> str:
    return "login" if server.tls != "starttls" else "STARTTLS or login"
