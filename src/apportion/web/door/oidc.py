"""OpenID Connect: the code flow with PKCE. Addresses come from the provider's own discovery document, signatures are checked by joserfc and
claims by Authlib; what is written here is the order of things and what is refused.
"""

import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, quote_plus, urlsplit

from authlib.oauth2.auth import ClientAuth  # type: ignore[import-untyped]  # ships no types
from authlib.oauth2.rfc6749.parameters import prepare_grant_uri, prepare_token_request  # type: ignore[import-untyped]
from authlib.oauth2.rfc7636 import create_s256_code_challenge  # type: ignore[import-untyped]
from authlib.oidc.core import CodeIDToken  # type: ignore[import-untyped]
from joserfc import jwt
from joserfc.errors import InvalidKeyIdError, JoseError
from joserfc.jwk import KeySet

from apportion.books.doors import Person
from apportion.errors import ApportionError
from apportion.sources.outside.web import Web as Outside
from apportion.sources.settings import Stanza
from apportion.verbs.web_settings import Oidc, Web, base_url

BY = "oidc"
SIGNED_BY = (
    "RS256",
    "RS384",
    "RS512",
    "PS256",
    "PS384",
    "PS512",
    "ES256",
    "ES384",
    "ES512",
    "EdDSA",
    "Ed25519",
)  # never none, never a shared key
LEEWAY_S = 60
FRESH_S = 3600  # the provider's document and keys are read again after this
ASKING = {"timeout_s": 10, "retries": 1}
DISCOVERY = "/.well-known/openid-configuration"


class LoginError(ApportionError):
    """The provider's answer is not one that lets anybody in."""

    def __init__(self, message: str, hint: str = "begin again; if it stays so, tell an admin") -> None:
        super().__init__("login-failed", message, hint=hint)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a login under way must come back with."""

    nonce: str
    verifier: str
    redirect: str


class Provider:
    """One in each server process; what it says of itself is kept for an hour, its keys until one is asked for that they lack."""

    def __init__(self, settings: Oidc) -> None:
        self.settings = settings
        secret = settings.secret()  # refuses at the start rather than at the first login
        self._secret = secret.reveal() if secret else ""
        self._lock = threading.Lock()
        self._metadata: tuple[float, Mapping[str, Any]] | None = None
        self._keys: tuple[float, KeySet] | None = None

    def metadata(self) -> Mapping[str, Any]:
        with self._lock:
            if self._metadata is None or self._metadata[0] < time.monotonic():
                found = self._get(self.settings.issuer.rstrip("/") + DISCOVERY)
                self._metadata = (time.monotonic() + FRESH_S, checked_metadata(found, self.settings.issuer))
            return self._metadata[1]

    def keys(self, *, anew: bool = False) -> KeySet:
        uri = self.metadata()["jwks_uri"]
        with self._lock:
            if anew or self._keys is None or self._keys[0] < time.monotonic():
                self._keys = (time.monotonic() + FRESH_S, key_set(self._get(uri)))
            return self._keys[1]

    def login_url(self, asked: Asked, state: str) -> str:
        url: str = prepare_grant_uri(
            self.metadata()["authorization_endpoint"],
            client_id=self.settings.client_id,
            response_type="code",
            redirect_uri=asked.redirect,
            scope=" ".join(self.settings.scopes),
            state=state,
            nonce=asked.nonce,
            code_challenge=create_s256_code_challenge(asked.verifier),
            code_challenge_method="S256",
        )
        return url

    def logout_url(self, back: str) -> str:
        """Where the provider ends its own session; empty where it has no such place."""
        end = self.metadata().get("end_session_endpoint", "")
        query = f"client_id={quote_plus(self.settings.client_id)}&post_logout_redirect_uri={quote_plus(back)}"
        return f"{end}{'&' if '?' in end else '?'}{query}" if end else ""

    def names_itself(self) -> bool:
        """Whether its answers must say whose they are, so that none of another provider is taken for one of it (RFC 9207)."""
        return self.metadata().get("authorization_response_iss_parameter_supported") is True

    def claims(self, code: str, asked: Asked) -> Mapping[str, Any]:
        """Of whoever the code stands for."""
        answer = self._token(code, asked)
        if not isinstance(answer, dict) or not isinstance(answer.get("id_token"), str):
            raise LoginError("the provider sent no ID token", 'see that the client may ask for the scope "openid"')
        return self.checked(answer["id_token"], asked.nonce, str(answer.get("access_token", "")))

    def checked(self, text: str, nonce: str, access_token: str = "") -> Mapping[str, Any]:
        """The claims of an ID token that is signed by the provider, for us, now, and for this very login."""
        try:
            token = self._decoded(text)
            options = {
                "iss": {"essential": True, "value": self.settings.issuer},
                "aud": {"essential": True, "value": self.settings.client_id},
                "sub": {"essential": True},
            }
            given = {"nonce": nonce, "client_id": self.settings.client_id, "access_token": access_token}
            claims = CodeIDToken(token.claims, token.header, options, given)
            claims.validate(leeway=LEEWAY_S)
        except (
            JoseError,
            ValueError,
            TypeError,
            KeyError,
        ) as error:  # what is wrong with a forged token is not its sender's business
            raise LoginError(f"the provider's answer is not in order ({type(error).__name__})") from error
        return dict(claims)

    def _decoded(self, text: str) -> jwt.Token:
        try:
            return jwt.decode(text, self.keys(), algorithms=SIGNED_BY)
        except InvalidKeyIdError:  # it may have changed its keys
            return jwt.decode(text, self.keys(anew=True), algorithms=SIGNED_BY)

    def _token(self, code: str, asked: Asked) -> Any:
        place = self.metadata()
        body = prepare_token_request(
            "authorization_code", code=code, redirect_uri=asked.redirect, code_verifier=asked.verifier
        )
        names = place.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        how = (
            "none"
            if not self._secret
            else "client_secret_basic"
            if "client_secret_basic" in names
            else "client_secret_post"
        )
        known = [self.settings.client_id, self._secret]
        known = list(map(quote_plus, known)) if how == "client_secret_basic" else known
        uri, headers, body = ClientAuth(*known, how).prepare("POST", place["token_endpoint"], {}, body)
        origin, path = split(uri)
        given = {
            "url": origin,
            "headers": {"Accept": "application/json", **headers},
            "timeout_s": ASKING["timeout_s"],
            "retries": 0,
        }
        with self._outside(given) as server:
            return server.post(path, form=dict(parse_qsl(body)))

    def _get(self, url: str) -> Any:
        origin, path = split(url)
        with self._outside({"url": origin, **ASKING}) as server:
            return server.get(path)

    def _outside(self, given: dict[str, Any]) -> Outside:
        trust = {key: value for key, value in self.settings.stanza.settings.items() if key == "ca_file"}
        return Outside.of(Stanza({**given, **trust}, self.settings.stanza.where))


def split(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}", (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def key_set(document: Any) -> KeySet:
    """The keys that sign; others, and such as this library does not know, do not count."""
    found = document.get("keys", []) if isinstance(document, dict) else []
    usable = [
        key
        for key in found
        if isinstance(key, dict) and key.get("kty") in ("RSA", "EC", "OKP") and key.get("use", "sig") == "sig"
    ]
    if not usable:
        raise LoginError("the provider has no keys to check its signature with")
    return KeySet.import_key_set({"keys": usable})


def checked_metadata(document: Any, issuer: str) -> Mapping[str, Any]:
    """A document of another issuer, or addresses that are not encrypted, are refused."""
    if not isinstance(document, dict) or document.get("issuer") != issuer:
        said = document.get("issuer") if isinstance(document, dict) else None
        raise LoginError(
            f"the provider calls itself {said!r} and not {issuer!r}",
            "set issuer of [web.oidc] to what it says, letter by letter",
        )
    for key in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
        if not isinstance(document.get(key), str):
            raise LoginError(f"the provider names no {key}")
    for key in ("authorization_endpoint", "token_endpoint", "jwks_uri", "end_session_endpoint"):
        base_url(document.get(key, "").partition("?")[0], key, issuer, bare=False)  # refuses
    return document


def person_of(claims: Mapping[str, Any], web: Web) -> Person:
    """By the name and the groups that the settings say."""
    settings = web.oidc
    if settings is None:
        raise LoginError("nobody logs in by OpenID Connect here")
    name = claims.get(settings.name_claim)
    if not isinstance(name, str) or not name.strip():
        raise LoginError(
            f"the provider does not say who you are: its answer has no {settings.name_claim}",
            "an admin can choose another claim: name_claim of [web.oidc]",
        )
    said = claims.get(settings.groups_claim, [])
    groups = (
        [said]
        if isinstance(said, str)
        else [one for one in said if isinstance(one, str)]
        if isinstance(said, list)
        else []
    )
    rights = web.rights(groups)
    return Person(name.strip(), rights.role, rights.teams, BY)


def asked_text(asked: Asked, to: str, browser: str) -> str:
    return json.dumps(
        {"nonce": asked.nonce, "verifier": asked.verifier, "redirect": asked.redirect, "to": to, "browser": browser}
    )
