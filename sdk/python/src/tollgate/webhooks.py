"""Webhooks, verified as the Standard Webhooks specification says."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Mapping, Sequence
from typing import cast

from .errors import WebhookVerificationError
from .types import EventBody

_PREFIX = "whsec_"


class WebhookEvent(EventBody):
    """An event. Later versions may add types: ignore those that you do not know."""

    id: str
    "The same on every delivery of an event: remember the IDs that you have handled."


def verify_webhook(
    body: bytes | str,
    headers: Mapping[str, str],
    secret: str | Sequence[str],
    *,
    tolerance_seconds: float = 300,
    now: float | None = None,
) -> WebhookEvent:
    """The event, if one of the secrets signed it not long ago; otherwise raises `WebhookVerificationError`.

    The body has to be as it arrived, byte for byte: not an object that a framework has parsed.
    """
    if not isinstance(body, (bytes, str)):
        raise TypeError("verify_webhook needs the body as it arrived: bytes or str, not a parsed object")
    content = body.encode() if isinstance(body, str) else body
    known = {name.lower(): value for name, value in headers.items()}
    event_id, timestamp = _header(known, "webhook-id"), _header(known, "webhook-timestamp")
    seconds = int(timestamp) if timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12 else None
    if seconds is None or abs((time.time() if now is None else now) - seconds) > tolerance_seconds:
        raise WebhookVerificationError("The webhook's timestamp is missing or too far from now.")
    signed = f"{event_id}.{timestamp}.".encode() + content
    secrets = [secret] if isinstance(secret, str) else secret
    expected = [hmac.new(_key(one), signed, hashlib.sha256).digest() for one in secrets]
    given = [_decoded(one[3:]) for one in _header(known, "webhook-signature").split(" ") if one.startswith("v1,")]
    if not any(hmac.compare_digest(mine, theirs) for mine in expected for theirs in given):
        raise WebhookVerificationError("The webhook is not signed with this secret.")
    return cast(WebhookEvent, {**json.loads(content), "id": event_id})


def _header(headers: Mapping[str, str], name: str) -> str:
    value = headers.get(name)
    if not value:
        raise WebhookVerificationError(f"The webhook has no {name} header.")
    return value


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""


def _key(secret: str) -> bytes:
    key = _decoded(secret[len(_PREFIX) :]) if secret.startswith(_PREFIX) else b""
    # An empty key would verify what anybody can sign.
    if not key:
        raise ValueError(f"a webhook secret begins with {_PREFIX}")
    return key
