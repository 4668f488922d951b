"""Sends requests, and sends them again where that helps."""

from __future__ import annotations

import http.client
import json
import random
import re
import socket
import ssl
import threading
import time
import urllib.parse
import uuid
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from .errors import ConnectionError, OutcomeUnknownError, TollgateError, TollgateWarning, kind_of
from .types import OPERATIONS

_RESPONSE_BYTES_MAX = 16 * 1024 * 1024
_FIRST_WAIT_SECONDS = 0.25
_WAIT_MAX_SECONDS = 10.0
# Operations that change nothing, although they are sent by POST.
_READING = {"fee_quote", "transfer_preview"}
# What another try can cure. Everything else is the same the next time.
_CURABLE = {
    "request_timeout",
    "rate_limited",
    "internal",
    "provider_unavailable",
    "store_unavailable",
    "outcome_unknown",
}
_GATEWAYS = {408, 429, 500, 502, 503, 504}


@dataclass(frozen=True)
class _Answer:
    status: int
    headers: http.client.HTTPMessage
    text: str


class Transport:
    def __init__(self, base_url: str, api_key: str, timeout: float, max_retries: int) -> None:
        parts = urllib.parse.urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("base_url must be an http or https URL")
        if not api_key:
            raise ValueError("api_key is missing")
        self._parts = parts
        self._base_url = base_url.rstrip("/")
        self._api_key = api_key
        self._timeout = timeout
        self._max_retries = max_retries
        self._tls = ssl.create_default_context() if parts.scheme == "https" else None

    def __repr__(self) -> str:
        return f"Transport({self._parts.geturl()!r})"

    def call(
        self,
        name: str,
        *,
        path: Mapping[str, str] | None = None,
        query: Mapping[str, object] | None = None,
        body: Mapping[str, object] | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> Any:
        """Sends a request until it is answered for good.

        Every try is the same, with the same idempotency key; each operation of the API is safe to repeat that way.
        """
        method, template, takes_key = OPERATIONS[name]
        if idempotency_key is None and takes_key:
            idempotency_key = f"sdk-{uuid.uuid4()}"
        headers = {
            "Authorization": f"Bearer {self._api_key}",
            "Accept": "application/json",
            "User-Agent": "tollgate-sdk-python/0.2.0",
            "Connection": "close",
        }
        if idempotency_key is not None:
            headers["Idempotency-Key"] = idempotency_key
        content = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            content = _encode(body)
        target = self._parts.path.rstrip("/") + _address(template, path or {}, query or {})
        is_read = method == "GET" or name in _READING
        key = cast("str | None", (body or {}).get("idempotencyKey")) or idempotency_key
        seconds = self._timeout if timeout is None else timeout
        for attempt in range(self._max_retries + 1):
            try:
                answer = self._send(method, target, headers, content, seconds)
            except (OSError, http.client.HTTPException) as cause:
                problem = "Tollgate did not answer in time." if isinstance(cause, TimeoutError) else "The connection to Tollgate failed."
                error: TollgateError = _lost(problem, is_read, key, None)
                error.__cause__ = cause
                retry_in: float | None = 0.0
            else:
                data, failed, retry_in = self._judge(answer, is_read, key)
                if failed is None:
                    return data
                error = failed
            if retry_in is None or attempt == self._max_retries:
                break
            backoff = min(_FIRST_WAIT_SECONDS * 2**attempt, _WAIT_MAX_SECONDS) * random.uniform(0.5, 1.0)
            wait = max(backoff, retry_in)
            # A longer pause is the caller's to make: the error says how long.
            if wait > _WAIT_MAX_SECONDS:
                break
            time.sleep(wait)
        raise error

    def _send(self, method: str, target: str, headers: dict[str, str], content: bytes | None, timeout: float) -> _Answer:
        host = cast(str, self._parts.hostname)
        connection: http.client.HTTPConnection
        if self._tls is not None:
            connection = http.client.HTTPSConnection(host, self._parts.port, timeout=timeout, context=self._tls)
        else:
            connection = http.client.HTTPConnection(host, self._parts.port, timeout=timeout)
        deadline = time.monotonic() + timeout
        try:
            connection.connect()
            # The socket's own time-out begins again with every byte; this one does not.
            timer = threading.Timer(max(deadline - time.monotonic(), 0), _cut, [connection.sock])
            timer.daemon = True
            timer.start()
            try:
                connection.request(method, target, body=content, headers=headers)
                response = connection.getresponse()
                text = response.read(_RESPONSE_BYTES_MAX + 1)
                # A connection that was cut looks like one that ended, where the answer has no length.
                if time.monotonic() >= deadline:
                    raise TimeoutError("the deadline has passed")
            except (OSError, http.client.HTTPException) as cause:
                if time.monotonic() >= deadline:
                    raise TimeoutError("the deadline has passed") from cause
                raise
            finally:
                timer.cancel()
        finally:
            connection.close()
        if len(text) > _RESPONSE_BYTES_MAX:
            raise http.client.HTTPException(f"the answer is larger than {_RESPONSE_BYTES_MAX} bytes")
        return _Answer(response.status, response.headers, text.decode("utf-8", "replace"))

    def _judge(self, answer: _Answer, is_read: bool, key: str | None) -> tuple[Any, TollgateError | None, float | None]:
        """The data, or else the error and after how many seconds another try may help."""
        if warning := answer.headers.get("Tollgate-Warning"):
            warnings.warn(warning, TollgateWarning, stacklevel=4)
        envelope = _parse(answer.text)
        is_success = 200 <= answer.status < 300
        if is_success and envelope.get("success") is True:
            return envelope.get("data"), None, None
        failure: dict[str, Any] = envelope.get("error") or {}
        code = failure.get("code")
        header = answer.headers.get("Retry-After") or ""
        retry_after = int(header) if header.isascii() and header.isdigit() else None
        is_curable = code in _CURABLE if code else is_success or answer.status in _GATEWAYS
        retry_in = float(retry_after or 0) if is_curable else None
        request_id = failure.get("requestId") or answer.headers.get("Request-Id")
        message = envelope.get("message") or f"The answer (status {answer.status}) is not one of Tollgate's."
        # Somebody between us and Tollgate answered, or Tollgate says that it does not know.
        if code == "outcome_unknown" or (code is None and (is_success or answer.status >= 500)):
            return None, _lost(message, is_read, key, request_id), retry_in
        error = kind_of(answer.status)(
            message,
            status=answer.status,
            code=code,
            request_id=request_id,
            details=failure.get("details") or [],
            service_reference=failure.get("serviceReference"),
            fee_decision=failure.get("feeDecision"),
            total_debit_minor=failure.get("totalDebitMinor"),
            retry_after_seconds=retry_after,
            docs_url=self._base_url + failure["docs"] if "docs" in failure else None,
            idempotency_key=key,
        )
        return None, error, retry_in


def _cut(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass


def _lost(message: str, is_read: bool, key: str | None, request_id: str | None) -> TollgateError:
    if is_read:
        return ConnectionError(message)
    return OutcomeUnknownError(f"{message} It is unknown whether the request had an effect.", key, request_id)


def _parse(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _encode(body: Mapping[str, object]) -> bytes:
    amount = body.get("amountMinor")
    # A float may have been rounded already, and would move another amount of money than was meant.
    if isinstance(amount, (float, bool)):
        raise TypeError("amountMinor must be an int or a string of digits: a whole number of minor units")
    return json.dumps(body, allow_nan=False).encode()


def _address(template: str, path: Mapping[str, str], query: Mapping[str, object]) -> str:
    def part(match: re.Match[str]) -> str:
        value = path[match[1]]
        if not value:
            raise ValueError(f"the {match[1]} is missing")
        return urllib.parse.quote(value, safe="")

    address = re.sub(r"\{(\w+)\}", part, template)
    given = {name: value for name, value in query.items() if value is not None}
    return f"{address}?{urllib.parse.urlencode(given)}" if given else address
