// Generated from docs/openapi.json by sdk/generate.py; do not edit.

export type AccountNumberInput = string;

/** An integer of minor units from 1 to 10^18, as a string of digits (always exact) or a JSON integer. */
export type AmountInput = string | number;

/** The five amounts of every payment. */
export interface Amounts {
  /** The principal, without fees. */
  amountMinor: MinorUnits;
  /** The platform's layer of the fee. */
  platformFeeMinor: MinorUnits;
  /** The organization's layer of the fee. */
  organizationFeeMinor: MinorUnits;
  /** The fee of both layers together. */
  feeMinor: MinorUnits;
  /** Principal and fee together: what is charged, or taken from the wallet. */
  totalDebitMinor: MinorUnits;
}

export type ApprovalKind = "transfer" | "refund" | "funds" | "configuration";

/** What an operator asked for, and somebody else has to approve: a change of the configuration, or a wallet movement. */
export interface ApprovalNotice {
  /** Its ID. */
  id: string;
  /** What kind it is. */
  kind: ApprovalKind;
  /** Who proposed the change. */
  proposedBy: string;
  /** The version that a change of the configuration was made from. */
  fromVersion?: number;
  /** What is to be moved, of a wallet movement. */
  funds?: FundsNotice;
}

export type ApprovalState = "required" | "approved" | "denied" | "canceled";

export interface AuditLogEventData {
  /** The audit log as it was verified: how many entries, the last hash, and what is wrong, if anything. */
  auditLog: AuditLogHead;
}

/** The end of the audit log. */
export interface AuditLogHead {
  /** How many entries there are. It never falls. */
  entries: number;
  /** The hash of the last entry. */
  head: string;
}

/** The receiving account. */
export interface BankAccount {
  /** The receiving bank's name, for people. */
  bankName: string;
  /** `checking` or `savings`. */
  accountType: BankAccountType;
  /** The last four digits of the account number. */
  last4: string;
}

export type BankAccountType = "checking" | "savings";

export type Capture = "automatic" | "manual";

export interface CaptureRequest {
  /** One capture per key: send the same again to retry safely. The `Idempotency-Key` header is the alternative. */
  idempotencyKey: string;
  /** The principal to capture; all that was authorized if omitted. What is left is released. */
  amountMinor?: AmountInput | null;
}

export type CardBrand = "visa" | "mastercard" | "amex" | "discover" | "diners" | "jcb" | "unionpay" | "cartes_bancaires" | "eftpos_au" | "interac" | "unknown";

export type CardCheck = "pass" | "fail" | "unavailable" | "unchecked";

/** The card that will be charged, as far as it is known. Without a brand and a funding it counts as unknown. */
export interface CardFeeCard {
  /** The network. */
  brand?: CardBrand | null;
  /** Where a bank-transfer provider takes the money from. */
  funding?: CardFunding | null;
  /** The country of its issuer. */
  country?: CountryInput | null;
  /** Whether it was issued to a business. */
  commercial?: boolean | null;
}

/** The first variant, once the fee was decided for the card: what the payer agreed to is charged. */
export interface CardFeeConfirmation {
  /** The token of the card whose fee was decided. */
  confirmationToken: string;
  /** An integer of minor units from 1 to 10^18, as a string of digits (always exact) or a JSON integer. */
  acceptedTotalDebitMinor: string | number;
  /** Where the payer is. */
  payer?: Record<string, unknown> | null;
}

/** Where the payer is. */
export interface CardFeePayer {
  /** Where the payer is, as an ISO 3166 code. */
  country: CountryInput;
  /** The state or province by the letters behind the country's; where these matter, the fee is zero without it. */
  state?: StateInput | null;
}

export interface CardFeeRequest {
  /** What `createConfirmationToken` made of the card in the payer's browser. */
  confirmationToken: string;
  /** Where the payer is, if the preparation did not say it. */
  payer?: CardFeePayer | null;
}

export type CardFunding = "credit" | "debit" | "prepaid" | "unknown";

/** `web_card`, also the default. */
export type CardMethodInput = "web_card";

export type Channel = "web_card" | "standard_ach" | "same_day_ach" | "instant";

/** A provider's circuit: whether the provider gets new work. */
export interface Circuit {
  /** The provider, by its name in the configuration. */
  provider: string;
  /** How it stands. */
  state: CircuitChange;
  /** Since when it is open, or closed again. */
  since: Moment;
  /** Whether an operator decided so, rather than how the provider answers. */
  forced: boolean;
  /** Why it is open: the last failure, or that an operator decided so. Null when it closes. */
  reason: string | null;
}

export type CircuitChange = "open" | "closed";

export interface CircuitEventData {
  /** The circuit that opened or closed. */
  circuit: Circuit;
}

/** What the browser needs to draw the provider's component. */
export type Component = PaymentElement | WebPayments | DropIn;

export interface ComponentRequest {
  /** The principal, without fees. */
  amountMinor: AmountInput;
  /** The currency, as an ISO 4217 code. */
  currency: CurrencyInput;
  /** `web_card`, which is also the default. */
  paymentMethod?: CardMethodInput | null;
  /** What it is for, in your words. */
  description?: string | null;
  /** Who pays, as far as you know. */
  customer?: CustomerInput | null;
  /** Your own data about it. */
  metadata?: MetadataInput | null;
  /** When the money is taken: `automatic` as soon as the customer pays, `manual` when you capture it. 400 where the selected provider cannot hold it. */
  capture?: Capture | null;
  /** The card that will be charged, if it is known. The fee is decided once the provider has told it. */
  card?: CardFeeCard | null;
  /** Where the payer is, which decides a card fee that has a kind. */
  payer?: CardFeePayer | null;
  /** Whether the payment is one of a series: a subscription, installments. False where it is left out. */
  recurring?: boolean | null;
}

export interface Confirmation {
  /** The transaction. */
  transaction: Transaction;
  /** Whether this answers a request that was made before; nothing was done again. */
  replayed: boolean;
}

/** The shape that goes with the component the payment was prepared with. */
export type ConfirmationRequest = PaymentElementConfirmation | WebPaymentsConfirmation | CardFeeConfirmation | DropInConfirmation;

/** An ISO 3166-1 code of two letters, case-insensitive. */
export type CountryInput = string;

/** An ISO 4217 code. */
export type CurrencyCode = string;

/** An active ISO 4217 code, case-insensitive. */
export type CurrencyInput = string;

export interface CustomerInput {
  /** The customer's name. */
  name?: string | null;
  /** An e-mail address. */
  email?: EmailInput | null;
}

export interface CustomerToken {
  /** The customer's details, encrypted for this environment. */
  customerToken: string;
  /** Always `JWE`. */
  tokenType: TokenType;
  /** When it is no longer valid; null for never. */
  expiresAt: Moment | null;
}

/** A token from `customer_token_issue`, of the same environment. */
export type CustomerTokenInput = string;

export interface CustomerTokenRequest {
  /** Your own ID of the customer. */
  externalCustomerId: string;
  /** An e-mail address. */
  email: EmailInput;
  /** The customer's first name. */
  firstName: string;
  /** The customer's last name. */
  lastName: string;
  /** The customer's phone number. */
  phone?: PhoneInput | null;
  /** Your own data about it. */
  metadata?: MetadataInput | null;
}

export interface Dispute {
  /** The provider's ID of the dispute. */
  id: string;
  /** How it stands. */
  status: string;
  /** The customer's reason, in the provider's word; null if it did not say. */
  reason: string | null;
  /** What the customer disputes; null if the provider did not say. */
  amountMinor: MinorUnits | null;
  /** The currency of `amountMinor`. Where it is not the payment's, nothing is booked and an exception is raised. */
  currency: CurrencyCode;
  /** Until when the provider takes evidence; null where it did not say, or takes none. */
  respondBy: Moment | null;
}

/** Bank transfers are in US dollars. */
export type DollarInput = string;

export interface DropIn {
  /** Your client key at the provider, for its script. */
  clientKey: string;
  /** `sandbox` or `production`: which of the provider's environments it is. */
  environment: string;
  /** The provider's ID of the session that the browser pays on. */
  sessionId: string;
  /** What lets this browser pay on the session. It is only in this response and its replay. */
  sessionData: string;
  /** The country that the component is drawn for, in two letters. */
  countryCode: string;
  /** The principal, without fees. */
  amountMinor: MinorUnits;
  /** The total debit as a decimal number, with as many digits behind the point as the currency has. */
  amount: string;
  /** The currency, as an ISO 4217 code. */
  currency: CurrencyCode;
  /** The provider's script and style sheet that draw the component. */
  scriptUrl: string;
  /** The provider's style sheet that goes with its script. */
  styleUrl: string;
  /** What happened. */
  type: "card_provider_c_drop_in";
}

export interface DropInConfirmation {
  /** What the Drop-in gave to the page when it was done. The provider is asked with it; it proves nothing by itself. */
  sessionResult: string;
}

export type EmailInput = string;

export type ErrorCode = "invalid_body" | "malformed_request" | "card_data_not_allowed" | "unauthenticated" | "secret_key_required" | "key_not_allowed" | "origin_not_allowed" | "forbidden" | "not_found" | "not_paid_yet" | "method_not_allowed" | "request_timeout" | "routing_unavailable" | "insufficient_wallet_balance" | "limit_exceeded" | "idempotency_conflict" | "payment_not_confirmable" | "fee_changed" | "not_switchable" | "not_capturable" | "not_voidable" | "not_cancelable" | "not_approvable" | "not_refundable" | "refund_exceeds_remaining" | "version_conflict" | "no_previous_master_key" | "name_taken" | "email_taken" | "too_many_tokens" | "too_many_proposals" | "key_not_live" | "too_many_endpoints" | "endpoint_busy" | "endpoint_disabled" | "wallet_full" | "body_too_large" | "uri_too_long" | "unsupported_media_type" | "instant_not_supported" | "provider_rejected" | "rate_limited" | "headers_too_large" | "internal" | "server_busy" | "provider_not_configured" | "provider_unavailable" | "store_unavailable" | "outcome_unknown";

export interface EventBody {
  /** What happened. */
  type: EventKind;
  /** When it happened. */
  timestamp: Moment;
  /** What it is about, as it was at that moment. */
  data: EventData;
}

/** What an event is about, under its own name. */
export type EventData = RefundEventData | TransactionEventData | PaymentEventData | CircuitEventData | ProposalEventData | AuditLogEventData;

export type EventKind = "payment.prepared" | "transaction.pending" | "transaction.processing" | "transaction.authorized" | "transaction.succeeded" | "transaction.failed" | "transaction.canceled" | "transaction.refunded" | "refund.pending" | "refund.succeeded" | "refund.failed" | "dispute.opened" | "dispute.updated" | "dispute.closed" | "transfer.notification_of_change" | "approval.required" | "provider.circuit_opened" | "provider.circuit_closed" | "audit_log.head";

export interface FailureDetail {
  /** What went wrong, for programs. */
  code: ErrorCode;
  /** As in the `Request-Id` header. */
  requestId: string;
  /** Every invalid field; empty if none. */
  details: FaultyField[];
  /** The related payment, if one is recorded: a rejected transfer, or a preparation that cannot be paid. */
  serviceReference?: string;
  /** With `fee_changed`: what is decided for the card now. */
  feeDecision?: FeeDecision;
  /** With `fee_changed`: the total to agree to. */
  totalDebitMinor?: string;
  /** Where the code is explained, on this server. */
  docs: string;
}

export type FailureKind = "return" | "failure";

export interface FaultyField {
  /** Its path in the request. */
  field: string;
  /** What is wrong with it. */
  message: string;
}

/** What the fee was computed for, without its layers. */
export interface Fee {
  /** The version of the fee rule; always 1. */
  version: number;
  /** The provider, by its name in the configuration. */
  provider: string;
  /** `web_card` or `ach`. */
  paymentMethod: PaymentMethod;
  /** The currency, as an ISO 4217 code. */
  currency: CurrencyCode;
  /** The rail the fee is for; `none` for cards. */
  channel: FeeChannel;
}

/** What the fee was computed from. */
export interface FeeBreakdown {
  /** The version of the fee rule; always 1. */
  version: number;
  /** The provider, by its name in the configuration. */
  provider: string;
  /** `web_card` or `ach`. */
  paymentMethod: PaymentMethod;
  /** The currency, as an ISO 4217 code. */
  currency: CurrencyCode;
  /** The rail the fee is for; `none` for cards. */
  channel: FeeChannel;
  /** The platform's, then the organization's. */
  layers: FeeLayer[];
}

export type FeeChannel = "none" | "standard_ach" | "same_day_ach" | "instant";

/** What was decided about a card fee that has a kind. */
export interface FeeDecision {
  /** What kind it is. */
  kind: FeeKind;
  /** What the configuration would charge. */
  configuredFeeMinor: MinorUnits;
  /** What may be charged as things are known now. */
  feeMinor: MinorUnits;
  /** What the fee can become once card and payer are known; both ends are the same where they are. */
  range: FeeRange;
  /** Why: the first rule that stops the fee, or the lowest limit and, behind it, those that are just as low (network, merchant's place, payer's place, cost). `explain` shows every rule. */
  reasons: FeeReason[];
  /** What the payer must be shown before agreeing. */
  disclosure: string;
  /** The version of the rules it was decided by. */
  rulesVersion: string;
}

export type FeeKind = "surcharge" | "convenience" | "service" | "neutral";

/** One scope's part of a fee. */
export interface FeeLayer {
  /** Whose layer it is. */
  scope: FeeScope;
  /** A disabled layer costs nothing and is still shown. */
  enabled: boolean;
  /** The fixed part of the fee. */
  fixedFeeMinor: MinorUnits;
  /** The percentage in basis points: 290 is 2.90 %. */
  percentFeeBps: number;
  /** The least the layer's fee can be; null for no minimum. */
  minimumFeeMinor: MinorUnits | null;
  /** The most the layer's fee can be; null for no cap. */
  capFeeMinor: MinorUnits | null;
  /** The layer's fee. */
  feeMinor: MinorUnits;
}

/** The least and the most that the fee can become once card and payer are known. */
export interface FeeRange {
  /** The least. */
  minMinor: MinorUnits;
  /** The most. */
  maxMinor: MinorUnits;
}

export interface FeeReason {
  /** A stable name of the rule. */
  code: FeeReasonCode;
  /** The rule as a sentence. */
  rule: string;
  /** Where it is written; null where it is the configuration itself. */
  source: string | null;
}

export type FeeReasonCode = "as_configured" | "funding_not_credit" | "not_a_card" | "card_unknown" | "provider_cannot_report" | "no_notice" | "no_entry_notice" | "cost_unknown" | "amex_parity" | "payer_place_unknown" | "prohibited" | "unclear" | "total_price_not_posted" | "country_not_known" | "network_cap" | "place_cap" | "cost_cap" | "convenience_not_flat" | "convenience_not_merchant" | "convenience_recurring" | "convenience_online_only" | "kinds_combined" | "service_mcc" | "neutral_differs" | "refund_pro_rata" | "refund_none" | "refund_free";

export type FeeRefund = "proportional" | "full" | "none";

export type FeeScope = "platform" | "organization";

export type Flow = "payment_component" | "hosted_checkout";

export interface FundsNotice {
  /** What the posting was made for. */
  cause: MovementCause;
  /** The principal, without fees. */
  amountMinor: MinorUnits;
  /** The currency, as an ISO 4217 code. */
  currency: CurrencyCode;
  /** What it was made for, such as a payment or your own reference. */
  reference: string;
}

/** Any JSON object. */
export type Metadata = Record<string, unknown>;

/** Any JSON object of at most 16 KiB. Routing rules can match it. It must not contain this service's secret keys. */
export type MetadataInput = Record<string, unknown>;

/** What pays, by the provider's name for it: `card`, also the default, or another method such as `us_bank_account`. */
export type MethodTypeInput = string;

/** An integer of minor units, as a string of digits. */
export type MinorUnits = string;

/** RFC 3339, in UTC, with milliseconds. */
export type Moment = string;

export type MovementCause = "fund" | "withdraw";

/** A preparation that is read back, with its result. */
export interface Payment {
  /** The principal, without fees. */
  amountMinor: MinorUnits;
  /** The platform's layer of the fee. */
  platformFeeMinor: MinorUnits;
  /** The organization's layer of the fee. */
  organizationFeeMinor: MinorUnits;
  /** The fee of both layers together. */
  feeMinor: MinorUnits;
  /** Principal and fee together: what is charged, or taken from the wallet. */
  totalDebitMinor: MinorUnits;
  /** The payment's stable reference: `pay_…` or `ach_…`. Store it. */
  serviceReference: string;
  /** The preparation's until somebody pays, then the transaction's. */
  status: PaymentStatus;
  /** What the fee was computed for. */
  fee: Fee;
  /** The currency, as an ISO 4217 code. */
  currency: CurrencyCode;
  /** `web_card` or `ach`. */
  paymentMethod: PaymentMethod;
  /** The provider, by its name in the configuration. */
  provider: string;
  /** When the money is taken: `automatic` with the payment, or `manual` when you capture it. */
  capture: Capture;
  /** Where it goes, and which rule decided. */
  routing: Routing;
  /** On the answer to a component's preparation only. */
  component?: Component;
  /** The provider's page to send the customer to; hosted checkout only. */
  checkoutUrl?: string;
  /** What was decided about the card fee last; only where it has a kind. */
  feeDecision?: FeeDecision;
  /** When the provider had it; null before that. */
  preparedAt: Moment | null;
  /** Until when it can be paid. */
  expiresAt: Moment;
  /** What was made for the customer to pay, whatever was paid. */
  preparation: Preparation;
  /** Which of the two card flows. */
  flow: Flow;
  /** What it is for, in your words. */
  description: string | null;
  /** Your own data about it. */
  metadata: Metadata;
  /** The transaction; null if there is none yet. */
  transaction: Transaction | null;
}

export interface PaymentElement {
  /** Your publishable key at the provider, for its script. */
  publishableKey: string;
  /** What the provider's script opens the payment with; it belongs in the customer's browser. */
  clientSecret: string;
  /** The provider's ID of the payment. */
  paymentIntentId: string;
  /** The connected account that the intent belongs to, where it is not the key's own: pass it to `Stripe(…)` as `stripeAccount`. */
  account?: string | null;
  /** The provider's script that draws the component. */
  scriptUrl: string;
  /** The total debit: what the customer is charged. */
  amountMinor: MinorUnits;
  /** The total debit as a decimal number, with as many digits behind the point as the currency has. */
  amount: string;
  /** The currency, as an ISO 4217 code. */
  currency: CurrencyCode;
  /** Only where the card decides the fee: what can be paid with. The browser makes a confirmation token instead of confirming. */
  paymentMethods?: string[];
  /** Which component it is. */
  type: "card_provider_a_payment_element";
}

export interface PaymentElementConfirmation {
  /** The provider's ID of the payment. */
  paymentIntentId: string;
  /** What the provider's script said in the browser. It is recorded, never trusted. */
  clientStatus?: string | null;
}

export interface PaymentEventData {
  /** The payment's revision: an event with a lower one than you have stored is older than what you have stored. */
  revision: number;
  /** The preparation, as it was at that moment. */
  payment: Payment;
}

export type PaymentMethod = "web_card" | "ach";

export interface PaymentRequest {
  /** The principal, without fees. */
  amountMinor: AmountInput;
  /** The currency, as an ISO 4217 code. */
  currency: CurrencyInput;
  /** `web_card`, which is also the default. */
  paymentMethod?: CardMethodInput | null;
  /** What it is for, in your words. */
  description?: string | null;
  /** Who pays, as far as you know. */
  customer?: CustomerInput | null;
  /** Your own data about it. */
  metadata?: MetadataInput | null;
  /** When the money is taken: `automatic` as soon as the customer pays, `manual` when you capture it. 400 where the selected provider cannot hold it. */
  capture?: Capture | null;
  /** The card that will be charged, if it is known. The fee is decided once the provider has told it. */
  card?: CardFeeCard | null;
  /** Where the payer is, which decides a card fee that has a kind. */
  payer?: CardFeePayer | null;
  /** Whether the payment is one of a series: a subscription, installments. False where it is left out. */
  recurring?: boolean | null;
  /** Hosted checkout only: where the customer goes after paying. */
  successUrl?: ReturnUrlInput | null;
  /** Hosted checkout only: where the customer goes without having paid. */
  cancelUrl?: ReturnUrlInput | null;
}

export type PaymentStatus = "preparing" | "prepared" | "refused" | "withdrawn" | "expired" | "pending" | "processing" | "authorized" | "succeeded" | "failed" | "canceled" | "refunded";

export type PendingAction = "capture" | "void" | "cancel";

/** E.164 or national format, separators allowed. */
export type PhoneInput = string;

/** What was made for the customer to pay, whatever was paid. */
export interface Preparation {
  /** How it stands. */
  status: PreparationStatus;
}

export type PreparationStatus = "preparing" | "prepared" | "refused" | "withdrawn" | "expired";

/** What every answer about a preparation has. */
export interface PreparedPayment {
  /** The principal, without fees. */
  amountMinor: MinorUnits;
  /** The platform's layer of the fee. */
  platformFeeMinor: MinorUnits;
  /** The organization's layer of the fee. */
  organizationFeeMinor: MinorUnits;
  /** The fee of both layers together. */
  feeMinor: MinorUnits;
  /** Principal and fee together: what is charged, or taken from the wallet. */
  totalDebitMinor: MinorUnits;
  /** The payment's stable reference: `pay_…` or `ach_…`. Store it. */
  serviceReference: string;
  /** The preparation's until somebody pays, then the transaction's. */
  status: PaymentStatus;
  /** What the fee was computed for. */
  fee: Fee;
  /** The currency, as an ISO 4217 code. */
  currency: CurrencyCode;
  /** `web_card` or `ach`. */
  paymentMethod: PaymentMethod;
  /** The provider, by its name in the configuration. */
  provider: string;
  /** When the money is taken: `automatic` with the payment, or `manual` when you capture it. */
  capture: Capture;
  /** Where it goes, and which rule decided. */
  routing: Routing;
  /** On the answer to a component's preparation only. */
  component?: Component;
  /** The provider's page to send the customer to; hosted checkout only. */
  checkoutUrl?: string;
  /** What was decided about the card fee last; only where it has a kind. */
  feeDecision?: FeeDecision;
  /** When the provider had it; null before that. */
  preparedAt: Moment | null;
  /** Until when it can be paid. */
  expiresAt: Moment;
}

export interface ProposalEventData {
  /** The approval that the configuration waits for. */
  approval: ApprovalNotice;
}

/** The answer as it is written below, field by field. */
export interface Quote {
  /** The principal, without fees. */
  amountMinor: MinorUnits;
  /** The currency, as an ISO 4217 code. */
  currency: CurrencyCode;
  /** The platform's layer of the fee. */
  platformFeeMinor: MinorUnits;
  /** The organization's layer of the fee. */
  organizationFeeMinor: MinorUnits;
  /** The fee of both layers together. */
  feeMinor: MinorUnits;
  /** Principal and fee together: what is charged, or taken from the wallet. */
  totalDebitMinor: MinorUnits;
  /** What the fee was computed from, layer by layer. */
  breakdown: FeeBreakdown;
  /** Where it goes, and which rule decided. */
  routing: Routing;
  /** Only where the card fee has a kind. */
  feeDecision?: FeeDecision;
}

export interface QuoteRequest {
  /** The principal, without fees. */
  amountMinor: AmountInput;
  /** The currency, as an ISO 4217 code. */
  currency: CurrencyInput;
  /** `web_card` where it is left out. */
  paymentMethod?: PaymentMethod | null;
  /** With `web_card` only; `payment_component` where it is left out. */
  flow?: Flow | null;
  /** Your own data about it. */
  metadata?: MetadataInput | null;
  /** The card that will be charged. With it and `payer` the quote of a card fee that has a kind is exact. */
  card?: CardFeeCard | null;
  /** Where the payer is; without it, a surcharge is the lawful minimum. */
  payer?: CardFeePayer | null;
  /** Whether the payment is one of a series: a subscription, installments. False where it is left out. */
  recurring?: boolean | null;
  /** What is paid with; a card unless it says otherwise. */
  paymentMethodType?: MethodTypeInput | null;
}

export type RecipientKind = "individual" | "business";

export interface Refund {
  /** Its stable reference: `re_…`. */
  refundReference: string;
  /** The payment's stable reference: `pay_…` or `ach_…`. Store it. */
  serviceReference: string;
  /** How it stands. */
  status: RefundStatus;
  /** The principal that goes back. */
  amountMinor: MinorUnits;
  /** The part of the service fee that goes back with it. */
  feeMinor: MinorUnits;
  /** Both together: what the customer gets. */
  totalRefundMinor: MinorUnits;
  /** The currency, as an ISO 4217 code. */
  currency: CurrencyCode;
  /** The provider, by its name in the configuration. */
  provider: string;
  /** The provider's name for it, once it exists there. */
  providerReference: string | null;
  /** As it was asked for; null for the environment's own rule. */
  feeRefund: FeeRefund | null;
  /** Why, in one of a few words; null if nobody said. */
  reason: RefundReason | null;
  /** What it is for, in your words. */
  description: string | null;
  /** Your own data about it. */
  metadata: Metadata;
  /** Why it failed, or, while it is pending, why the provider has not sent it yet. */
  failure: TransactionFailure | null;
  /** Who asked for it: the API, an operator, or somebody in the provider's dashboard. */
  origin: RefundOrigin;
  /** What people have to decide, or have decided, before it is sent; null if nobody has to. */
  approval: TransferApproval | null;
  /** When it was created. */
  createdAt: Moment;
  /** When it last changed. */
  updatedAt: Moment;
}

export interface RefundEventData {
  /** The payment's revision: an event with a lower one than you have stored is older than what you have stored. */
  revision: number;
  /** The transaction, as it was at that moment. */
  transaction: Transaction;
  /** The refund, as it was at that moment. */
  refund: Refund;
}

export interface RefundList {
  /** This page of the list. */
  items: Refund[];
  /** The cursor of the next page; null at the end. */
  nextCursor: string | null;
}

export type RefundOrigin = "api" | "operator" | "provider" | "service";

export type RefundReason = "duplicate" | "fraudulent" | "requested_by_customer" | "other";

export interface RefundRequest {
  /** One refund per key: send the same again to retry safely. The `Idempotency-Key` header is the alternative. */
  idempotencyKey: string;
  /** The principal to refund; everything that is left if omitted. */
  amountMinor?: AmountInput | null;
  /** How much of the service fee goes back with it. */
  feeRefund?: FeeRefund | null;
  /** Why, in one of a few words; null if nobody said. */
  reason?: RefundReason | null;
  /** What it is for, in your words. */
  description?: string | null;
  /** Your own data about it. */
  metadata?: MetadataInput | null;
}

/** A refund that was asked for. */
export interface RefundResult {
  /** The refund. */
  refund: Refund;
  /** Whether this answers a request that was made before; nothing was done again. */
  replayed: boolean;
}

export type RefundStatus = "pending" | "processing" | "succeeded" | "failed" | "canceled";

/** A string of at most 1,000 characters, or a JSON object of at most 4 KiB. */
export type RemittanceData = string | Record<string, unknown>;

/** A string of at most 1,000 characters, or a JSON object of at most 4 KiB. What the rail cannot carry whole is rejected: an ACH entry has room for 80 characters, an instant transfer for 140. */
export type RemittanceInput = string | Record<string, unknown>;

/** An https URL; http only on loopback. */
export type ReturnUrlInput = string;

export type RouteOutcome = "skipped" | "unavailable" | "refused" | "declined" | "selected";

/** Where a payment was routed, and by what. */
export interface Routing {
  /** The provider, by its name in the configuration. */
  provider: string;
  /** The rail the payment takes. */
  channel: Channel;
  /** The rule that decided; null if none matched. */
  matchedRuleId: string | null;
  /** The conditions of the matched rule, in order. */
  matchedConditionIds: string[];
  /** Whether no rule matched and the default target was used. */
  fallback: boolean;
  /** On a quote whose route is split: every target. The quote is that of the heaviest. */
  split?: RoutingShare[];
  /** Where more than one target was tried: each of them in order, the payment's own provider last. */
  attempts?: RoutingAttempt[];
}

/** A target of a route that was tried. */
export interface RoutingAttempt {
  /** The provider, by its name in the configuration. */
  provider: string;
  /** How it ended. */
  outcome: RouteOutcome;
  /** Why the payment is not there; null for the one that is selected. */
  reason: string | null;
}

/** Nine digits including the check digit. */
export type RoutingNumberInput = string;

/** One target of a split. */
export interface RoutingShare {
  /** The provider, by its name in the configuration. */
  provider: string;
  /** The rail the payment takes. */
  channel: Channel;
  /** Its share of the payments, relative to the others. */
  weight: number;
}

/** A state or province as ISO 3166-2 has it behind the country, case-insensitive. */
export type StateInput = string;

/** Printable ASCII. */
export type StatementDescriptor = string;

export interface SwitchRequest {
  /** The provider where the card was declined: the payment's `provider` as you know it. */
  from: string;
}

export type TokenType = "JWE";

/** A transaction. */
export interface Transaction {
  /** The principal, without fees. */
  amountMinor: MinorUnits;
  /** The platform's layer of the fee. */
  platformFeeMinor: MinorUnits;
  /** The organization's layer of the fee. */
  organizationFeeMinor: MinorUnits;
  /** The fee of both layers together. */
  feeMinor: MinorUnits;
  /** Principal and fee together: what is charged, or taken from the wallet. */
  totalDebitMinor: MinorUnits;
  /** The payment's stable reference: `pay_…` or `ach_…`. Store it. */
  serviceReference: string;
  /** Rises with every change of the payment: of two answers or events, the one with the higher number is the later one. */
  revision: number;
  /** How it stands. */
  status: TransactionStatus;
  /** What was authorized, of a payment that is captured by hand. */
  authorized: Amounts | null;
  /** When the provider releases what was not captured. */
  captureBefore: Moment | null;
  /** A capture, a void or, where one transfer is read, a cancellation whose outcome is not known yet; it is resolved by itself. */
  pendingAction: PendingAction | null;
  /** What people have to decide, or have decided, before a transfer is sent; only where one transfer is read. */
  approval: TransferApproval | null;
  /** The currency, as an ISO 4217 code. */
  currency: CurrencyCode;
  /** `web_card` or `ach`. */
  paymentMethod: PaymentMethod;
  /** The provider, by its name in the configuration. */
  provider: string;
  /** The rail the payment takes. */
  channel: Channel;
  /** What the fee was computed for. */
  fee: Fee;
  /** What kind of fee the amounts include; only where the card fee has a kind. */
  feeKind?: FeeKind;
  /** The provider's ID of the payment; null before it has one. */
  providerReference: string | null;
  /** Why it failed; null if it did not. */
  failure: TransactionFailure | null;
  /** What was given back in total, fees included. */
  refundedMinor: MinorUnits;
  /** The customer's dispute; null if there is none. */
  dispute: Dispute | null;
  /** The card that the customer paid with, or tried last; null for anything else, and where the provider does not say. */
  card: TransactionCard | null;
  /** What it is for, in your words. */
  description: string | null;
  /** Your own data about it. */
  metadata: Metadata;
  /** When it was created. */
  createdAt: Moment;
  /** When it last changed. */
  updatedAt: Moment;
}

/** The card that was charged or tried last, as far as the provider describes it. */
export interface TransactionCard {
  /** `visa`, `mastercard`, `amex`, `discover`, `diners`, `jcb`, `unionpay`, or another of the provider's words. */
  brand: string | null;
  /** The last four digits of the card's number. */
  last4: string | null;
  /** `credit`, `debit` or `prepaid`. */
  funding: string | null;
  /** Where the bank is that issued it, as ISO 3166-1 writes it in two letters. */
  country: string | null;
  /** The month in which the card expires, from 1. */
  expiryMonth: number | null;
  /** The year in which the card expires, in four digits. */
  expiryYear: number | null;
  /** How the customer was authenticated, in the provider's word, such as `authenticated`; null where that was not tried. */
  threeDSecure: string | null;
  /** What the card's bank said of what the customer typed. */
  checks: TransactionCardChecks;
}

export interface TransactionCardChecks {
  /** The result for the street and its number. */
  address: CardCheck | null;
  /** The result for the postal code. */
  postalCode: CardCheck | null;
  /** The result for the security code. */
  cvc: CardCheck | null;
}

export interface TransactionEventData {
  /** The payment's revision: an event with a lower one than you have stored is older than what you have stored. */
  revision: number;
  /** The transaction, as it was at that moment. */
  transaction: Transaction;
}

export interface TransactionFailure {
  /** Why it failed, for programs. */
  code: string;
  /** `return`: the receiving bank sent a transfer back, even after it arrived. Everything else is a `failure`. */
  kind: FailureKind;
  /** Why it failed, for people. */
  message: string;
}

export interface TransactionList {
  /** This page of the list. */
  items: Transaction[];
  /** The cursor of the next page; null at the end. */
  nextCursor: string | null;
}

export interface TransactionListQuery {
  /** Only this status. */
  status?: "pending" | "processing" | "authorized" | "succeeded" | "failed" | "canceled" | "refunded";
  /** Only this method. */
  paymentMethod?: "web_card" | "ach";
  /** Only this provider. */
  provider?: string;
  /** `true`: only those that are paid and were refunded in part. */
  partlyRefunded?: boolean;
  /** `true`: only those with a dispute, whatever became of it. */
  disputed?: boolean;
  /** Only from this time on. */
  createdFrom?: string;
  /** Only before this time. */
  createdBefore?: string;
  /** The previous page's `nextCursor`. */
  before?: string;
  /** Maximum number of results. */
  limit?: number;
}

/** A transaction that is read back. */
export interface TransactionRead {
  /** The principal, without fees. */
  amountMinor: MinorUnits;
  /** The platform's layer of the fee. */
  platformFeeMinor: MinorUnits;
  /** The organization's layer of the fee. */
  organizationFeeMinor: MinorUnits;
  /** The fee of both layers together. */
  feeMinor: MinorUnits;
  /** Principal and fee together: what is charged, or taken from the wallet. */
  totalDebitMinor: MinorUnits;
  /** The payment's stable reference: `pay_…` or `ach_…`. Store it. */
  serviceReference: string;
  /** Rises with every change of the payment: of two answers or events, the one with the higher number is the later one. */
  revision: number;
  /** How it stands. */
  status: TransactionStatus;
  /** What was authorized, of a payment that is captured by hand. */
  authorized: Amounts | null;
  /** When the provider releases what was not captured. */
  captureBefore: Moment | null;
  /** A capture, a void or, where one transfer is read, a cancellation whose outcome is not known yet; it is resolved by itself. */
  pendingAction: PendingAction | null;
  /** What people have to decide, or have decided, before a transfer is sent; only where one transfer is read. */
  approval: TransferApproval | null;
  /** The currency, as an ISO 4217 code. */
  currency: CurrencyCode;
  /** `web_card` or `ach`. */
  paymentMethod: PaymentMethod;
  /** The provider, by its name in the configuration. */
  provider: string;
  /** The rail the payment takes. */
  channel: Channel;
  /** What the fee was computed for. */
  fee: Fee;
  /** What kind of fee the amounts include; only where the card fee has a kind. */
  feeKind?: FeeKind;
  /** The provider's ID of the payment; null before it has one. */
  providerReference: string | null;
  /** Why it failed; null if it did not. */
  failure: TransactionFailure | null;
  /** What was given back in total, fees included. */
  refundedMinor: MinorUnits;
  /** The customer's dispute; null if there is none. */
  dispute: Dispute | null;
  /** The card that the customer paid with, or tried last; null for anything else, and where the provider does not say. */
  card: TransactionCard | null;
  /** What it is for, in your words. */
  description: string | null;
  /** Your own data about it. */
  metadata: Metadata;
  /** When it was created. */
  createdAt: Moment;
  /** When it last changed. */
  updatedAt: Moment;
  /** What a bank transfer has beyond its transaction; left out for card payments. */
  transfer?: TransferDetail;
}

export type TransactionStatus = "pending" | "processing" | "authorized" | "succeeded" | "failed" | "canceled" | "refunded";

export interface Transfer {
  /** The transaction. */
  transaction: Transaction;
  /** Whether this answers a request that was made before; nothing was done again. */
  replayed: boolean;
  /** The receiving account, as far as it may be shown. */
  bankAccount: BankAccount;
  /** Where it goes, and which rule decided. */
  routing: Routing;
}

/** Where the approval of a transfer, a refund or a wallet movement stands. */
export interface TransferApproval {
  /** How it stands. */
  state: ApprovalState;
  /** How many people have to approve. */
  count: number;
  /** How many have. */
  approvals: number;
  /** The IDs of the rules that ask for it, and the limits that it exceeds. */
  reasons: string[];
}

/** What a transfer has beyond its transaction. */
export interface TransferDetail {
  /** The receiving account, as far as it may be shown. */
  bankAccount: BankAccount;
  /** Whose account it is. */
  accountName: string;
  /** Your own ID of the customer. */
  externalCustomerId: string;
  /** The day it is expected to arrive, by the banking calendar or by the provider's word. */
  expectedSettlementOn: string | null;
  /** Whom it waits for, where a person has to act at the provider before it is sent: an approval, a confirmation, a review. Null otherwise. */
  waitingFor: string | null;
  /** What the receiving bank asks to be corrected before the next transfer; nothing failed by it. Of a corrected account number the last four digits are shown. */
  notificationsOfChange: Metadata[];
  /** What the recipient reads about it. */
  remittanceData: RemittanceData | null;
  /** The network it takes: for instant transfers, the one that the receiving bank takes part in. */
  rail: TransferRail | null;
  /** Whether a person or a business receives it. */
  recipientKind: RecipientKind;
  /** What the transfer is for, where that matters to banks. */
  purpose: TransferPurpose | null;
  /** What the recipient's bank statement shows. */
  statementDescriptor: StatementDescriptor | null;
  /** Where it goes, and which rule decided. */
  routing: Routing;
}

export interface TransferFee {
  /** The platform's layer of the fee. */
  platformFeeMinor: MinorUnits;
  /** The organization's layer of the fee. */
  organizationFeeMinor: MinorUnits;
  /** The fee of both layers together. */
  feeMinor: MinorUnits;
}

export interface TransferPreview {
  /** The principal, without fees. */
  amountMinor: MinorUnits;
  /** The currency, as an ISO 4217 code. */
  currency: CurrencyCode;
  /** Where it goes, and which rule decided. */
  routing: TransferRouting;
  /** The fee, by layer and in total. */
  fee: TransferFee;
  /** Principal and fee together: what is charged, or taken from the wallet. */
  totalDebitMinor: MinorUnits;
}

export interface TransferPreviewRequest {
  /** The principal, without fees. */
  amountMinor: AmountInput;
  /** The currency, as an ISO 4217 code. */
  currency: DollarInput;
  /** Your own data about it. */
  metadata?: MetadataInput | null;
}

export type TransferPurpose = "payroll";

export type TransferRail = "ach" | "rtp" | "fednow";

export interface TransferRequest {
  /** One transfer per key: send the same again to retry the same business action safely. The `Idempotency-Key` header is the alternative. */
  idempotencyKey: string;
  /** The principal, without fees. */
  amountMinor: AmountInput;
  /** The currency, as an ISO 4217 code. */
  currency: DollarInput;
  /** The customer's details, encrypted for this environment. */
  customerToken: CustomerTokenInput;
  /** The receiving bank's routing number. */
  routingNumber: RoutingNumberInput;
  /** The receiving account's number. It is stored encrypted until the provider has it, then deleted. */
  accountNumber: AccountNumberInput;
  /** `checking` or `savings`. */
  bankAccountType: BankAccountType;
  /** The receiving bank's name, for people. */
  bankName: string;
  /** Whose account it is. */
  accountName: string;
  /** What it is for, in your words. */
  description?: string | null;
  /** Your own data about it. */
  metadata?: MetadataInput | null;
  /** What the recipient reads about it. */
  remittanceData?: RemittanceInput | null;
  /** Whom it pays: a person (an ACH entry of class PPD) or a company (CCD). */
  recipientKind?: RecipientKind | null;
  /** What it is for: `payroll` makes the description of the ACH entry PAYROLL, as the network's rules want it. */
  purpose?: TransferPurpose | null;
  /** What the receiver's statement is to say, such as a short name: at most 10 characters of printable ASCII. */
  statementDescriptor?: StatementDescriptor | null;
}

export interface TransferRouting {
  /** The provider, by its name in the configuration. */
  provider: string;
  /** The rail the payment takes. */
  channel: Channel;
  /** The rail in words, such as `Same-day ACH`. */
  channelLabel: string;
  /** The rule that decided; null if none matched. */
  matchedRuleId: string | null;
  /** The conditions of the matched rule, in order. */
  matchedConditionIds: string[];
  /** Whether no rule matched and the default target was used. */
  fallback: boolean;
  /** Every target, where the route is split; the first-named provider is the heaviest one. */
  split?: RoutingShare[];
  /** Where targets were passed over: each of them in order, the selected one last. */
  attempts?: RoutingAttempt[];
}

export interface VoidRequest {
  /** One void per key: send the same again to retry safely. The `Idempotency-Key` header is the alternative. */
  idempotencyKey: string;
}

/** What a wallet holds. */
export interface Wallet {
  /** The currency, as an ISO 4217 code. */
  currency: CurrencyCode;
  /** What can be spent. */
  availableMinor: MinorUnits;
  /** What is set aside for transfers on their way. */
  reservedMinor: MinorUnits;
  /** What has left by transfers that arrived. */
  settledOutMinor: MinorUnits;
  /** Fees of the platform's layer, in total. */
  platformFeesMinor: MinorUnits;
  /** Fees of the organization's layer, in total. */
  organizationFeesMinor: MinorUnits;
}

export interface WalletList {
  /** This page of the list. */
  items: Wallet[];
  /** The cursor of the next page; null at the end. */
  nextCursor: string | null;
}

export interface WebPayments {
  /** Your application at the provider, for its script. */
  applicationId: string;
  /** Your location at the provider, for its script. */
  locationId: string;
  /** `sandbox` or `production`: which of the provider's environments it is. */
  environment: string;
  /** The provider's script that draws the component. */
  scriptUrl: string;
  /** The total debit: what the customer is charged. */
  amountMinor: MinorUnits;
  /** The total debit as a decimal number, with as many digits behind the point as the currency has. */
  amount: string;
  /** The currency, as an ISO 4217 code. */
  currency: CurrencyCode;
  /** Which component it is. */
  type: "card_provider_b_web_payments";
}

export interface WebPaymentsConfirmation {
  /** The one-time token that the provider's script made of the card. */
  sourceId: string;
  /** The provider's proof that the buyer was verified, where its script gives one. */
  verificationToken?: string | null;
  /** Where the provider sends its receipt. */
  buyerEmail?: string | null;
}

/** Method, path, and whether it takes the `Idempotency-Key` header. */
export const OPERATIONS = {
  fee_quote: ["POST", "/client/v1/fees/quote", false],
  payment_prepare: ["POST", "/client/v1/payments", true],
  component_prepare: ["POST", "/client/v1/payments/component", true],
  component_card: ["POST", "/client/v1/payments/component/{reference}/card", false],
  component_confirm: ["POST", "/client/v1/payments/component/{reference}/confirm", false],
  component_switch: ["POST", "/client/v1/payments/component/{reference}/switch", false],
  payment_read: ["GET", "/client/v1/payments/{reference}", false],
  customer_token_issue: ["POST", "/client/v1/ach/customer-tokens", true],
  transfer_preview: ["POST", "/client/v1/ach/transfers/preview", false],
  transfer_make: ["POST", "/client/v1/ach/transfers", false],
  transfer_cancel: ["POST", "/client/v1/ach/transfers/{reference}/cancel", false],
  payment_capture: ["POST", "/client/v1/transactions/{reference}/capture", false],
  payment_void: ["POST", "/client/v1/transactions/{reference}/void", false],
  refund_create: ["POST", "/client/v1/transactions/{reference}/refunds", false],
  refund_list: ["GET", "/client/v1/transactions/{reference}/refunds", false],
  refund_read: ["GET", "/client/v1/refunds/{refund}", false],
  transaction_list: ["GET", "/client/v1/transactions", false],
  transaction_read: ["GET", "/client/v1/transactions/{reference}", false],
  client_wallet: ["GET", "/client/v1/wallet", false],
} as const;

export type OperationName = keyof typeof OPERATIONS;
