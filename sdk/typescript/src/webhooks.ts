import { createHmac, timingSafeEqual } from "node:crypto";

import { WebhookVerificationError } from "./errors.js";
import type { EventKind, PaymentEventData, RefundEventData, TransactionEventData } from "./generated.js";

interface Happened<Kind extends EventKind, Data> {
  /** The same on every delivery of an event: remember the IDs that you have handled. */
  id: string;
  type: Kind;
  /** When it happened. */
  timestamp: string;
  data: Data;
}

type Prepared = "payment.prepared";
type Refunds = Extract<EventKind, `refund.${string}`>;

/** An event, told apart by its `type`. Later versions may add types: ignore those that you do not know. */
export type WebhookEvent =
  | Happened<Prepared, PaymentEventData>
  | Happened<Refunds, RefundEventData>
  | Happened<Exclude<EventKind, Prepared | Refunds>, TransactionEventData>;

/** As Node's `request.headers`, Express or `fetch` have them. */
export type WebhookHeaders = Headers | Record<string, string | string[] | undefined>;

export interface VerifyOptions {
  /** How far a delivery's time may be off; five minutes unless set. */
  toleranceSeconds?: number;
  /** For tests. */
  now?: Date;
}

const PREFIX = "whsec_";

/**
 * The event, if one of the secrets signed it not long ago; otherwise throws `WebhookVerificationError`. The body has to be
 * as it arrived, byte for byte: not an object that a framework has parsed.
 */
export function verifyWebhook(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string | readonly string[],
  { toleranceSeconds = 300, now = new Date() }: VerifyOptions = {},
): WebhookEvent {
  if (typeof body !== "string" && !(body instanceof Uint8Array)) {
    throw new TypeError("verifyWebhook needs the body as it arrived: a string or bytes, not a parsed object");
  }
  const id = header(headers, "webhook-id");
  const timestamp = header(headers, "webhook-timestamp");
  const seconds = /^[0-9]{1,12}$/.test(timestamp) ? Number(timestamp) : Number.NaN;
  if (!(Math.abs(now.getTime() / 1000 - seconds) <= toleranceSeconds)) {
    throw new WebhookVerificationError("The webhook's timestamp is missing or too far from now.");
  }
  const given = header(headers, "webhook-signature").split(" ").filter((one) => one.startsWith("v1,"));
  const secrets = typeof secret === "string" ? [secret] : secret;
  const expected = secrets.map((one) => createHmac("sha256", key(one)).update(`${id}.${timestamp}.`).update(body).digest());
  const isSigned = given.some((one) => {
    const signature = Buffer.from(one.slice(3), "base64");
    return expected.some((mine) => mine.length === signature.length && timingSafeEqual(mine, signature));
  });
  if (!isSigned) throw new WebhookVerificationError("The webhook is not signed with this secret.");
  const text = typeof body === "string" ? body : new TextDecoder().decode(body);
  return { ...JSON.parse(text), id } as WebhookEvent;
}

function header(headers: WebhookHeaders, name: string): string {
  const found = headers instanceof Headers ? headers.get(name) : headers[name];
  if (typeof found !== "string" || found === "") {
    throw new WebhookVerificationError(`The webhook has no ${name} header.`);
  }
  return found;
}

function key(secret: string): Buffer {
  const bytes = Buffer.from(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : "", "base64");
  // An empty key would verify what anybody can sign.
  if (bytes.length === 0) throw new TypeError(`a webhook secret begins with ${PREFIX}`);
  return bytes;
}
