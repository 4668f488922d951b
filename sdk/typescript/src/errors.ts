import type { ErrorCode, FailureDetail, FaultyField, FeeDecision } from "./generated.js";

/** Everything this library throws, except for mistakes in how it is called (`TypeError`). */
export class TollgateError extends Error {
  override name = "TollgateError";
}

/**
 * No answer arrived, to a request that changes nothing: a read, a quote, a preview. Send it again whenever you like.
 */
export class ConnectionError extends TollgateError {
  override name = "ConnectionError";
}

/**
 * It is unknown whether the request had an effect: the answer was lost, or Tollgate itself could not tell. Send the same
 * request again, with `idempotencyKey` where there is one: nothing happens twice.
 */
export class OutcomeUnknownError extends TollgateError {
  override name = "OutcomeUnknownError";

  constructor(
    message: string,
    readonly idempotencyKey: string | undefined,
    readonly requestId: string | undefined,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** What an answer says when it is a failure. */
export interface FailedAnswer {
  status: number;
  message: string;
  error: Partial<FailureDetail>;
  docsUrl: string | undefined;
  retryAfterSeconds: number | undefined;
  idempotencyKey: string | undefined;
}

/** Tollgate answered with a failure. Programs read `code`, people read `message`. */
export class ApiError extends TollgateError {
  override name = "ApiError";
  readonly status: number;
  /** Later versions may add codes: treat one that you do not know by its `status`. */
  readonly code: ErrorCode | undefined;
  /** Quote it when you report something. */
  readonly requestId: string | undefined;
  /** Every field at fault. */
  readonly details: FaultyField[];
  /** The payment that was recorded, if one was. */
  readonly serviceReference: string | undefined;
  /** With `fee_changed`: what is decided for the card now, and the total to agree to. */
  readonly feeDecision: FeeDecision | undefined;
  readonly totalDebitMinor: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  /** Where your Tollgate explains the code. */
  readonly docsUrl: string | undefined;
  /** What the request was sent with: send the same again with it to retry safely. */
  readonly idempotencyKey: string | undefined;

  constructor(answer: FailedAnswer) {
    super(answer.message);
    this.status = answer.status;
    this.code = answer.error.code;
    this.requestId = answer.error.requestId;
    this.details = answer.error.details ?? [];
    this.serviceReference = answer.error.serviceReference;
    this.feeDecision = answer.error.feeDecision;
    this.totalDebitMinor = answer.error.totalDebitMinor;
    this.retryAfterSeconds = answer.retryAfterSeconds;
    this.docsUrl = answer.docsUrl;
    this.idempotencyKey = answer.idempotencyKey;
  }
}

/** The request itself is at fault; `details` names every field. */
export class InvalidRequestError extends ApiError {
  override name = "InvalidRequestError";
}

/** The key is missing, mistyped, unknown, expired or revoked. */
export class AuthenticationError extends ApiError {
  override name = "AuthenticationError";
}

/** The key is valid and does not open this. */
export class PermissionError extends ApiError {
  override name = "PermissionError";
}

/** It does not exist in the key's environment. */
export class NotFoundError extends ApiError {
  override name = "NotFoundError";
}

/** The state of something does not allow this: a balance, a limit, a reused key, a payment that has ended. */
export class ConflictError extends ApiError {
  override name = "ConflictError";
}

/** The provider's validation rejected it. */
export class RejectedError extends ApiError {
  override name = "RejectedError";
}

/** Too many requests; `retryAfterSeconds` says when to come back. */
export class RateLimitError extends ApiError {
  override name = "RateLimitError";
}

/** Tollgate, its database or the provider cannot do this now. */
export class ServiceError extends ApiError {
  override name = "ServiceError";
}

/** The webhook was not signed with your secret, or too long ago. Answer 400, and do nothing. */
export class WebhookVerificationError extends TollgateError {
  override name = "WebhookVerificationError";
}

const BY_STATUS: Record<number, typeof ApiError> = {
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
  409: ConflictError,
  422: RejectedError,
  429: RateLimitError,
};

export function apiError(answer: FailedAnswer): ApiError {
  const kind = BY_STATUS[answer.status] ?? (answer.status >= 500 ? ServiceError : InvalidRequestError);
  return new kind(answer);
}
