"""Tollgate's client API. Start with `Tollgate`."""

from . import types
from .client import Tollgate
from .errors import (
    ApiError,
    AuthenticationError,
    ConflictError,
    ConnectionError,
    InvalidRequestError,
    NotFoundError,
    OutcomeUnknownError,
    PermissionError,
    RateLimitError,
    RejectedError,
    ServiceError,
    TollgateError,
    TollgateWarning,
    WebhookVerificationError,
)
from .webhooks import WebhookEvent, verify_webhook

__all__ = [
    "ApiError",
    "AuthenticationError",
    "ConflictError",
    "ConnectionError",
    "InvalidRequestError",
    "NotFoundError",
    "OutcomeUnknownError",
    "PermissionError",
    "RateLimitError",
    "RejectedError",
    "ServiceError",
    "Tollgate",
    "TollgateError",
    "TollgateWarning",
    "WebhookEvent",
    "WebhookVerificationError",
    "types",
    "verify_webhook",
]
