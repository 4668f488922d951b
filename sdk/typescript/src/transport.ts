import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import { apiError, ConnectionError, OutcomeUnknownError, type TollgateError } from "./errors.js";
import { OPERATIONS, type FailureDetail, type OperationName } from "./generated.js";

/** For one call. */
export interface CallOptions {
  /** For preparations and customer tokens, which otherwise get a new key for every call. */
  idempotencyKey?: string;
  /** Ends the call, and its retries. */
  signal?: AbortSignal;
  /** For each try of this call. */
  timeoutMs?: number;
}

/** How to call, with everything decided. */
export interface TransportOptions {
  baseUrl: string;
  apiKey: string;
  timeoutMs: number;
  maxRetries: number;
  fetch: typeof fetch;
}

interface Call {
  path?: Record<string, string>;
  query?: object;
  body?: object;
  options?: CallOptions | undefined;
}

/** A try that did not succeed: what to throw, and how long to wait where another try may help. */
interface Failed {
  error: TollgateError;
  retryInMs: number | undefined;
}

const RESPONSE_BYTES_MAX = 16 * 1024 * 1024;
const FIRST_WAIT_MS = 250;
const WAIT_MAX_MS = 10_000;
/** Operations that change nothing, although they are sent by POST. */
const READING: ReadonlySet<OperationName> = new Set(["fee_quote", "transfer_preview"]);
/** What another try can cure. Everything else is the same the next time. */
const CURABLE = new Set(["request_timeout", "rate_limited", "internal", "provider_unavailable", "store_unavailable", "outcome_unknown"]);
const GATEWAYS = new Set([408, 429, 500, 502, 503, 504]);

export class Transport {
  // Private, so that a client that is printed does not print its key.
  readonly #options: TransportOptions;

  constructor(options: TransportOptions) {
    this.#options = options;
  }

  /**
   * Sends a request until it is answered for good. Every try is the same, with the same idempotency key; each operation
   * of the API is safe to repeat that way.
   */
  async call<T>(name: OperationName, call: Call = {}): Promise<T> {
    const [method, , takesKey] = OPERATIONS[name];
    const own = (call.body as { idempotencyKey?: string } | undefined)?.idempotencyKey;
    const key = call.options?.idempotencyKey ?? (takesKey ? `sdk-${randomUUID()}` : undefined);
    const headers: Record<string, string> = {
      authorization: `Bearer ${this.#options.apiKey}`,
      accept: "application/json",
      "user-agent": "tollgate-sdk-typescript/0.2.0",
    };
    if (key !== undefined) headers["idempotency-key"] = key;
    const request: RequestInit = { method, headers, redirect: "manual" };
    if (call.body !== undefined) {
      headers["content-type"] = "application/json";
      request.body = encode(call.body);
    }
    const url = address(this.#options.baseUrl, name, call);
    const isRead = method === "GET" || READING.has(name);
    for (let attempt = 0; ; attempt += 1) {
      const outcome = await this.#attempt<T>(url, request, isRead, own ?? key, call.options);
      if (!("error" in outcome)) return outcome.data;
      if (outcome.retryInMs === undefined || attempt >= this.#options.maxRetries) throw outcome.error;
      const backoff = Math.min(FIRST_WAIT_MS * 2 ** attempt, WAIT_MAX_MS) * (0.5 + Math.random() / 2);
      const wait = Math.max(backoff, outcome.retryInMs);
      // A longer pause is the caller's to make: the error says how long.
      if (wait > WAIT_MAX_MS) throw outcome.error;
      await sleep(wait, undefined, call.options?.signal ? { signal: call.options.signal } : {});
    }
  }

  async #attempt<T>(
    url: string,
    request: RequestInit,
    isRead: boolean,
    key: string | undefined,
    options: CallOptions = {},
  ): Promise<{ data: T } | Failed> {
    const timeout = AbortSignal.timeout(options.timeoutMs ?? this.#options.timeoutMs);
    const signal = options.signal ? AbortSignal.any([options.signal, timeout]) : timeout;
    const lost = (message: string, requestId?: string, cause?: unknown): TollgateError => {
      const because = cause === undefined ? {} : { cause };
      if (isRead) return new ConnectionError(message, because);
      return new OutcomeUnknownError(`${message} It is unknown whether the request had an effect.`, key, requestId, because);
    };
    let response: Response;
    let text: string;
    try {
      response = await this.#options.fetch(url, { ...request, signal });
      text = await read(response);
    } catch (cause) {
      options.signal?.throwIfAborted();
      const message = timeout.aborted ? "Tollgate did not answer in time." : "The connection to Tollgate failed.";
      return { error: lost(message, undefined, cause), retryInMs: 0 };
    }
    const warning = response.headers.get("tollgate-warning");
    if (warning !== null) process.emitWarning(warning, "TollgateWarning");
    const answer = parse(text);
    if (response.ok && answer?.success === true) return { data: answer.data as T };
    const seconds = Number.parseInt(response.headers.get("retry-after") ?? "", 10);
    const retryAfterSeconds = Number.isNaN(seconds) ? undefined : seconds;
    const code = answer?.error?.code;
    const isCurable = code === undefined ? GATEWAYS.has(response.status) || response.ok : CURABLE.has(code);
    const retryInMs = isCurable ? (retryAfterSeconds ?? 0) * 1000 : undefined;
    const requestId = response.headers.get("request-id") ?? undefined;
    // Somebody between us and Tollgate answered, or Tollgate says that it does not know.
    const isUnknown = code === "outcome_unknown" || (code === undefined && (response.ok || response.status >= 500));
    if (isUnknown) {
      const message = answer?.message ?? `The answer (status ${response.status}) is not one of Tollgate's.`;
      return { error: lost(message, requestId), retryInMs };
    }
    const failure = {
      status: response.status,
      message: answer?.message ?? `The answer (status ${response.status}) is not one of Tollgate's: check the base URL.`,
      error: { ...(requestId === undefined ? {} : { requestId }), ...answer?.error },
      docsUrl: answer?.error?.docs && `${this.#options.baseUrl}${answer.error.docs}`,
      retryAfterSeconds,
      idempotencyKey: key,
    };
    return { error: apiError(failure), retryInMs };
  }
}

interface Envelope {
  success?: boolean;
  data?: unknown;
  message?: string | null;
  error?: FailureDetail;
}

function parse(text: string): Envelope | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Envelope) : undefined;
  } catch {
    return undefined;
  }
}

async function read(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let [text, size] = ["", 0];
  const reader = response.body?.getReader();
  for (;;) {
    const part = await reader?.read();
    if (!part?.value) return text + decoder.decode();
    size += part.value.byteLength;
    if (size > RESPONSE_BYTES_MAX) throw new Error(`The answer is larger than ${RESPONSE_BYTES_MAX} bytes.`);
    text += decoder.decode(part.value, { stream: true });
  }
}

/** A number that JavaScript has rounded already would move another amount of money than was meant. */
function encode(body: object): string {
  return JSON.stringify(body, (field, value: unknown) => {
    if (typeof value === "number" && field === "amountMinor" && !Number.isSafeInteger(value)) {
      throw new TypeError("amountMinor must be a whole number of minor units; beyond 2^53 write it as a string");
    }
    return value;
  });
}

function address(baseUrl: string, name: OperationName, call: Call): string {
  const path = OPERATIONS[name][1].replace(/\{(\w+)\}/g, (_, part: string) => {
    const value = call.path?.[part];
    if (!value) throw new TypeError(`the ${part} is missing`);
    return encodeURIComponent(value);
  });
  const query = new URLSearchParams();
  for (const [field, value] of Object.entries(call.query ?? {})) {
    if (value !== undefined && value !== null) query.set(field, String(value));
  }
  return `${baseUrl}${path}${query.size > 0 ? `?${query}` : ""}`;
}
