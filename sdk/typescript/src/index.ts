export { Tollgate, type TollgateOptions } from "./client.js";
export { type CallOptions } from "./transport.js";
export { type Page } from "./pages.js";
export {
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
  WebhookVerificationError,
} from "./errors.js";
export { verifyWebhook, type VerifyOptions, type WebhookEvent, type WebhookHeaders } from "./webhooks.js";
export type * from "./generated.js";
