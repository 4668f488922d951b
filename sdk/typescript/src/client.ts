import { readFileSync } from "node:fs";

import type {
  CaptureRequest,
  ComponentRequest,
  Confirmation,
  CardFeeRequest,
  ConfirmationRequest,
  CustomerToken,
  CustomerTokenRequest,
  Payment,
  PaymentRequest,
  PreparedPayment,
  Quote,
  QuoteRequest,
  Refund,
  RefundRequest,
  RefundResult,
  SwitchRequest,
  Transaction,
  TransactionListQuery,
  TransactionRead,
  Transfer,
  TransferPreview,
  TransferPreviewRequest,
  TransferRequest,
  VoidRequest,
  Wallet,
} from "./generated.js";
import { everyItem, type Page } from "./pages.js";
import { Transport, type CallOptions } from "./transport.js";

export interface TollgateOptions {
  /** Where your Tollgate is, for example `https://pay.example.com`. */
  baseUrl: string;
  /** A secret key (`sk_…`) of the environment; it belongs on servers only. */
  apiKey: string;
  /** For each try of a call; 30 seconds unless set. */
  timeoutMs?: number;
  /** How often a call is tried again; twice unless set. */
  maxRetries?: number;
  /** Another `fetch`, for a proxy or for tests. */
  fetch?: typeof fetch;
}

/** The client API. Amounts are strings of minor units, as the API has them: exact, however large. */
export class Tollgate {
  readonly baseUrl: string;
  readonly fees: Fees;
  readonly payments: Payments;
  readonly transactions: Transactions;
  readonly refunds: Refunds;
  readonly customerTokens: CustomerTokens;
  readonly transfers: Transfers;
  readonly wallets: Wallets;

  constructor({ baseUrl, apiKey, timeoutMs = 30_000, maxRetries = 2, fetch = globalThis.fetch }: TollgateOptions) {
    if (!/^https?:\/\//.test(baseUrl ?? "")) throw new TypeError("baseUrl must be an http or https URL");
    if (!apiKey) throw new TypeError("apiKey is missing");
    this.baseUrl = baseUrl.replace(/\/+$/, "");
    const transport = new Transport({ baseUrl: this.baseUrl, apiKey, timeoutMs, maxRetries, fetch });
    this.fees = new Fees(transport);
    this.payments = new Payments(transport);
    this.transactions = new Transactions(transport);
    this.refunds = new Refunds(transport);
    this.customerTokens = new CustomerTokens(transport);
    this.transfers = new Transfers(transport);
    this.wallets = new Wallets(transport);
  }

  /** By `TOLLGATE_URL` and `TOLLGATE_KEY`; where they are not set, by the notes of a sandbox started in this folder. */
  static fromEnvironment(options: Partial<TollgateOptions> = {}): Tollgate {
    let { TOLLGATE_URL: baseUrl, TOLLGATE_KEY: apiKey } = process.env;
    if (!baseUrl || !apiKey) {
      const notes = sandboxNotes();
      baseUrl ||= notes.baseUrl;
      apiKey ||= notes.secretKey;
    }
    return new Tollgate({ baseUrl, apiKey, ...options });
  }
}

function sandboxNotes(): { baseUrl: string; secretKey: string } {
  try {
    return JSON.parse(readFileSync("tollgate-data/sandbox.json", "utf8"));
  } catch (cause) {
    throw new TypeError("set TOLLGATE_URL and TOLLGATE_KEY, or start the sandbox in this folder", { cause });
  }
}

class Resource {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  protected get call(): Transport["call"] {
    return this.#transport.call.bind(this.#transport);
  }
}

class Fees extends Resource {
  /** What a payment would cost and where it would go. Nothing is recorded. */
  quote(body: QuoteRequest, options?: CallOptions): Promise<Quote> {
    return this.call("fee_quote", { body, options });
  }
}

class Payments extends Resource {
  /** Prepares a payment on the provider's own page: send the customer to `checkoutUrl`. */
  createCheckout(body: PaymentRequest, options?: CallOptions): Promise<PreparedPayment> {
    return this.call("payment_prepare", { body, options });
  }

  /** Prepares a payment with card fields on your page: hand the result to `mount` in the browser. */
  createComponent(body: ComponentRequest, options?: CallOptions): Promise<PreparedPayment> {
    return this.call("component_prepare", { body, options });
  }

  /** Decides the fee of a component's payment for the card behind a token of the browser's. Nothing is charged. */
  decideFee(reference: string, body: CardFeeRequest, options?: CallOptions): Promise<PreparedPayment> {
    return this.call("component_card", { path: { reference }, body, options });
  }

  /** Completes a component's payment with what `submit` returned in the browser. A decline is a `failed` transaction. */
  confirm(reference: string, body: ConfirmationRequest, options?: CallOptions): Promise<Confirmation> {
    return this.call("component_confirm", { path: { reference }, body, options });
  }

  /** After a decline: prepares the same payment again at the next provider of its route. Mount the new component. */
  switch(reference: string, body: SwitchRequest, options?: CallOptions): Promise<PreparedPayment> {
    return this.call("component_switch", { path: { reference }, body, options });
  }

  /** A preparation, and its transaction once there is one. */
  retrieve(reference: string, options?: CallOptions): Promise<Payment> {
    return this.call("payment_read", { path: { reference }, options });
  }
}

class Transactions extends Resource {
  retrieve(reference: string, options?: CallOptions): Promise<TransactionRead> {
    return this.call("transaction_read", { path: { reference }, options });
  }

  /** One page, newest first. */
  list(query: TransactionListQuery = {}, options?: CallOptions): Promise<Page<Transaction>> {
    return this.call("transaction_list", { query, options });
  }

  /** All of them, page by page, for `for await`. */
  listAll(query: TransactionListQuery = {}, options?: CallOptions): AsyncGenerator<Transaction> {
    const read = (before: string | undefined) => this.list(before === undefined ? query : { ...query, before }, options);
    return everyItem(read, query.before);
  }

  /** Takes the money of an `authorized` payment, or a part of it. */
  capture(reference: string, body: CaptureRequest, options?: CallOptions): Promise<Confirmation> {
    return this.call("payment_capture", { path: { reference }, body, options });
  }

  /** Releases the money of an `authorized` payment. */
  void(reference: string, body: VoidRequest, options?: CallOptions): Promise<Confirmation> {
    return this.call("payment_void", { path: { reference }, body, options });
  }
}

class Refunds extends Resource {
  /** Gives money back; all that is left of the payment where no amount is given. */
  create(reference: string, body: RefundRequest, options?: CallOptions): Promise<RefundResult> {
    return this.call("refund_create", { path: { reference }, body, options });
  }

  retrieve(refund: string, options?: CallOptions): Promise<Refund> {
    return this.call("refund_read", { path: { refund }, options });
  }

  /** The refunds of a transaction. */
  list(reference: string, options?: CallOptions): Promise<Page<Refund>> {
    return this.call("refund_list", { path: { reference }, options });
  }
}

class CustomerTokens extends Resource {
  /** Seals a customer's details for transfers. */
  create(body: CustomerTokenRequest, options?: CallOptions): Promise<CustomerToken> {
    return this.call("customer_token_issue", { body, options });
  }
}

class Transfers extends Resource {
  /** What a transfer would cost and which way it would go. Nothing is reserved. */
  preview(body: TransferPreviewRequest, options?: CallOptions): Promise<TransferPreview> {
    return this.call("transfer_preview", { body, options });
  }

  /**
   * Sends money from the wallet. The key is yours to choose and to store before you call: after a crash, the same key
   * finds the same transfer.
   */
  create(body: TransferRequest, options?: CallOptions): Promise<Transfer> {
    return this.call("transfer_make", { body, options });
  }

  /** Cancels a transfer that was not handed to the bank yet. */
  cancel(reference: string, options?: CallOptions): Promise<Confirmation> {
    return this.call("transfer_cancel", { path: { reference }, options });
  }
}

class Wallets extends Resource {
  /** What each wallet of the environment holds. */
  list(options?: CallOptions): Promise<Page<Wallet>> {
    return this.call("client_wallet", { options });
  }
}
