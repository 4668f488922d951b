"""What can go wrong, each kind with a class of its own."""

from __future__ import annotations

from .types import FaultyField, FeeDecision


class TollgateError(Exception):
    """Everything this library raises, except for mistakes in how it is called (`TypeError`, `ValueError`)."""


class ConnectionError(TollgateError):
    """No answer arrived, to a request that changes nothing: a read, a quote, a preview. Send it again whenever you like."""


class OutcomeUnknownError(TollgateError):
    """It is unknown whether the request had an effect: the answer was lost, or Tollgate itself could not tell.

    Send the same request again, with `idempotency_key` where there is one: nothing happens twice.
    """

    def __init__(self, message: str, idempotency_key: str | None, request_id: str | None) -> None:
        super().__init__(message)
        self.idempotency_key = idempotency_key
        self.request_id = request_id


class ApiError(TollgateError):
    """Tollgate answered with a failure. Programs read `code`, people read the message."""

    def __init__(
        self,
        message: str,
        *,
        status: int,
        code: str | None,
        request_id: str | None,
        details: list[FaultyField],
        service_reference: str | None,
        fee_decision: FeeDecision | None,
        total_debit_minor: str | None,
        retry_after_seconds: int | None,
        docs_url: str | None,
        idempotency_key: str | None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        """One of `types.ErrorCode`, or one that a later version has added: treat that by its `status`."""
        self.request_id = request_id
        """Quote it when you report something."""
        self.details = details
        """Every field at fault."""
        self.service_reference = service_reference
        """The payment that was recorded, if one was."""
        self.fee_decision = fee_decision
        """With `fee_changed`: what is decided for the card now."""
        self.total_debit_minor = total_debit_minor
        """With `fee_changed`: the total to agree to."""
        self.retry_after_seconds = retry_after_seconds
        self.docs_url = docs_url
        """Where your Tollgate explains the code."""
        self.idempotency_key = idempotency_key
        """What the request was sent with: send the same again with it to retry safely."""


class InvalidRequestError(ApiError):
    """The request itself is at fault; `details` names every field."""


class AuthenticationError(ApiError):
    """The key is missing, mistyped, unknown, expired or revoked."""


class PermissionError(ApiError):
    """The key is valid and does not open this."""


class NotFoundError(ApiError):
    """It does not exist in the key's environment."""


class ConflictError(ApiError):
    """The state of something does not allow this: a balance, a limit, a reused key, a payment that has ended."""


class RejectedError(ApiError):
    """The provider's validation rejected it."""


class RateLimitError(ApiError):
    """Too many requests; `retry_after_seconds` says when to come back."""


class ServiceError(ApiError):
    """Tollgate, its database or the provider cannot do this now."""


class WebhookVerificationError(TollgateError):
    """The webhook was not signed with your secret, or too long ago. Answer 400, and do nothing."""


class TollgateWarning(UserWarning):
    """What Tollgate noticed about a request that succeeded, such as a field that it does not know."""


_BY_STATUS: dict[int, type[ApiError]] = {
    401: AuthenticationError,
    403: PermissionError,
    404: NotFoundError,
    409: ConflictError,
    422: RejectedError,
    429: RateLimitError,
}


def kind_of(status: int) -> type[ApiError]:
    return _BY_STATUS.get(status) or (ServiceError if status >= 500 else InvalidRequestError)
