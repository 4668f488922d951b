"""The API's types. Generated from docs/openapi.json by sdk/generate.py; do not edit."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict


class Amounts(TypedDict):
    "The five amounts of every payment."

    amountMinor: MinorUnits
    "The principal, without fees."
    platformFeeMinor: MinorUnits
    "The platform's layer of the fee."
    organizationFeeMinor: MinorUnits
    "The organization's layer of the fee."
    feeMinor: MinorUnits
    "The fee of both layers together."
    totalDebitMinor: MinorUnits
    "Principal and fee together: what is charged, or taken from the wallet."


class ApprovalNotice(TypedDict):
    "What an operator asked for, and somebody else has to approve: a change of the configuration, or a wallet movement."

    id: str
    "Its ID."
    kind: ApprovalKind
    "What kind it is."
    proposedBy: str
    "Who proposed the change."
    fromVersion: NotRequired[int]
    "The version that a change of the configuration was made from."
    funds: NotRequired[FundsNotice]
    "What is to be moved, of a wallet movement."


class AuditLogEventData(TypedDict):
    auditLog: AuditLogHead
    "The audit log as it was verified: how many entries, the last hash, and what is wrong, if anything."


class AuditLogHead(TypedDict):
    "The end of the audit log."

    entries: int
    "How many entries there are. It never falls."
    head: str
    "The hash of the last entry."


class BankAccount(TypedDict):
    "The receiving account."

    bankName: str
    "The receiving bank's name, for people."
    accountType: BankAccountType
    "`checking` or `savings`."
    last4: str
    "The last four digits of the account number."


class CaptureRequest(TypedDict):
    idempotencyKey: str
    "One capture per key: send the same again to retry safely. The `Idempotency-Key` header is the alternative."
    amountMinor: NotRequired[AmountInput | None]
    "The principal to capture; all that was authorized if omitted. What is left is released."


class CardFeeCard(TypedDict):
    "The card that will be charged, as far as it is known. Without a brand and a funding it counts as unknown."

    brand: NotRequired[CardBrand | None]
    "The network."
    funding: NotRequired[CardFunding | None]
    "Where a bank-transfer provider takes the money from."
    country: NotRequired[CountryInput | None]
    "The country of its issuer."
    commercial: NotRequired[bool | None]
    "Whether it was issued to a business."


class CardFeeConfirmation(TypedDict):
    "The first variant, once the fee was decided for the card: what the payer agreed to is charged."

    confirmationToken: str
    "The token of the card whose fee was decided."
    acceptedTotalDebitMinor: str | int
    "An integer of minor units from 1 to 10^18, as a string of digits (always exact) or a JSON integer."
    payer: NotRequired[dict[str, Any] | None]
    "Where the payer is."


class CardFeePayer(TypedDict):
    "Where the payer is."

    country: CountryInput
    "Where the payer is, as an ISO 3166 code."
    state: NotRequired[StateInput | None]
    "The state or province by the letters behind the country's; where these matter, the fee is zero without it."


class CardFeeRequest(TypedDict):
    confirmationToken: str
    "What `createConfirmationToken` made of the card in the payer's browser."
    payer: NotRequired[CardFeePayer | None]
    "Where the payer is, if the preparation did not say it."


class Circuit(TypedDict):
    "A provider's circuit: whether the provider gets new work."

    provider: str
    "The provider, by its name in the configuration."
    state: CircuitChange
    "How it stands."
    since: Moment
    "Since when it is open, or closed again."
    forced: bool
    "Whether an operator decided so, rather than how the provider answers."
    reason: str | None
    "Why it is open: the last failure, or that an operator decided so. Null when it closes."


class CircuitEventData(TypedDict):
    circuit: Circuit
    "The circuit that opened or closed."


class ComponentRequest(TypedDict):
    amountMinor: AmountInput
    "The principal, without fees."
    currency: CurrencyInput
    "The currency, as an ISO 4217 code."
    paymentMethod: NotRequired[CardMethodInput | None]
    "`web_card`, which is also the default."
    description: NotRequired[str | None]
    "What it is for, in your words."
    customer: NotRequired[CustomerInput | None]
    "Who pays, as far as you know."
    metadata: NotRequired[MetadataInput | None]
    "Your own data about it."
    capture: NotRequired[Capture | None]
    "When the money is taken: `automatic` as soon as the customer pays, `manual` when you capture it. 400 where the selected provider cannot hold it."
    card: NotRequired[CardFeeCard | None]
    "The card that will be charged, if it is known. The fee is decided once the provider has told it."
    payer: NotRequired[CardFeePayer | None]
    "Where the payer is, which decides a card fee that has a kind."
    recurring: NotRequired[bool | None]
    "Whether the payment is one of a series: a subscription, installments. False where it is left out."


class Confirmation(TypedDict):
    transaction: Transaction
    "The transaction."
    replayed: bool
    "Whether this answers a request that was made before; nothing was done again."


class CustomerInput(TypedDict):
    name: NotRequired[str | None]
    "The customer's name."
    email: NotRequired[EmailInput | None]
    "An e-mail address."


class CustomerToken(TypedDict):
    customerToken: str
    "The customer's details, encrypted for this environment."
    tokenType: TokenType
    "Always `JWE`."
    expiresAt: Moment | None
    "When it is no longer valid; null for never."


class CustomerTokenRequest(TypedDict):
    externalCustomerId: str
    "Your own ID of the customer."
    email: EmailInput
    "An e-mail address."
    firstName: str
    "The customer's first name."
    lastName: str
    "The customer's last name."
    phone: NotRequired[PhoneInput | None]
    "The customer's phone number."
    metadata: NotRequired[MetadataInput | None]
    "Your own data about it."


class Dispute(TypedDict):
    id: str
    "The provider's ID of the dispute."
    status: str
    "How it stands."
    reason: str | None
    "The customer's reason, in the provider's word; null if it did not say."
    amountMinor: MinorUnits | None
    "What the customer disputes; null if the provider did not say."
    currency: CurrencyCode
    "The currency of `amountMinor`. Where it is not the payment's, nothing is booked and an exception is raised."
    respondBy: Moment | None
    "Until when the provider takes evidence; null where it did not say, or takes none."


class DropIn(TypedDict):
    clientKey: str
    "Your client key at the provider, for its script."
    environment: str
    "`sandbox` or `production`: which of the provider's environments it is."
    sessionId: str
    "The provider's ID of the session that the browser pays on."
    sessionData: str
    "What lets this browser pay on the session. It is only in this response and its replay."
    countryCode: str
    "The country that the component is drawn for, in two letters."
    amountMinor: MinorUnits
    "The principal, without fees."
    amount: str
    "The total debit as a decimal number, with as many digits behind the point as the currency has."
    currency: CurrencyCode
    "The currency, as an ISO 4217 code."
    scriptUrl: str
    "The provider's script and style sheet that draw the component."
    styleUrl: str
    "The provider's style sheet that goes with its script."
    type: Literal['card_provider_c_drop_in']
    "What happened."


class DropInConfirmation(TypedDict):
    sessionResult: str
    "What the Drop-in gave to the page when it was done. The provider is asked with it; it proves nothing by itself."


class EventBody(TypedDict):
    type: EventKind
    "What happened."
    timestamp: Moment
    "When it happened."
    data: EventData
    "What it is about, as it was at that moment."


class FailureDetail(TypedDict):
    code: ErrorCode
    "What went wrong, for programs."
    requestId: str
    "As in the `Request-Id` header."
    details: list[FaultyField]
    "Every invalid field; empty if none."
    serviceReference: NotRequired[str]
    "The related payment, if one is recorded: a rejected transfer, or a preparation that cannot be paid."
    feeDecision: NotRequired[FeeDecision]
    "With `fee_changed`: what is decided for the card now."
    totalDebitMinor: NotRequired[str]
    "With `fee_changed`: the total to agree to."
    docs: str
    "Where the code is explained, on this server."


class FaultyField(TypedDict):
    field: str
    "Its path in the request."
    message: str
    "What is wrong with it."


class Fee(TypedDict):
    "What the fee was computed for, without its layers."

    version: int
    "The version of the fee rule; always 1."
    provider: str
    "The provider, by its name in the configuration."
    paymentMethod: PaymentMethod
    "`web_card` or `ach`."
    currency: CurrencyCode
    "The currency, as an ISO 4217 code."
    channel: FeeChannel
    "The rail the fee is for; `none` for cards."


class FeeBreakdown(TypedDict):
    "What the fee was computed from."

    version: int
    "The version of the fee rule; always 1."
    provider: str
    "The provider, by its name in the configuration."
    paymentMethod: PaymentMethod
    "`web_card` or `ach`."
    currency: CurrencyCode
    "The currency, as an ISO 4217 code."
    channel: FeeChannel
    "The rail the fee is for; `none` for cards."
    layers: list[FeeLayer]
    "The platform's, then the organization's."


class FeeDecision(TypedDict):
    "What was decided about a card fee that has a kind."

    kind: FeeKind
    "What kind it is."
    configuredFeeMinor: MinorUnits
    "What the configuration would charge."
    feeMinor: MinorUnits
    "What may be charged as things are known now."
    range: FeeRange
    "What the fee can become once card and payer are known; both ends are the same where they are."
    reasons: list[FeeReason]
    "Why: the first rule that stops the fee, or the lowest limit and, behind it, those that are just as low (network, merchant's place, payer's place, cost). `explain` shows every rule."
    disclosure: str
    "What the payer must be shown before agreeing."
    rulesVersion: str
    "The version of the rules it was decided by."


class FeeLayer(TypedDict):
    "One scope's part of a fee."

    scope: FeeScope
    "Whose layer it is."
    enabled: bool
    "A disabled layer costs nothing and is still shown."
    fixedFeeMinor: MinorUnits
    "The fixed part of the fee."
    percentFeeBps: int
    "The percentage in basis points: 290 is 2.90 %."
    minimumFeeMinor: MinorUnits | None
    "The least the layer's fee can be; null for no minimum."
    capFeeMinor: MinorUnits | None
    "The most the layer's fee can be; null for no cap."
    feeMinor: MinorUnits
    "The layer's fee."


class FeeRange(TypedDict):
    "The least and the most that the fee can become once card and payer are known."

    minMinor: MinorUnits
    "The least."
    maxMinor: MinorUnits
    "The most."


class FeeReason(TypedDict):
    code: FeeReasonCode
    "A stable name of the rule."
    rule: str
    "The rule as a sentence."
    source: str | None
    "Where it is written; null where it is the configuration itself."


class FundsNotice(TypedDict):
    cause: MovementCause
    "What the posting was made for."
    amountMinor: MinorUnits
    "The principal, without fees."
    currency: CurrencyCode
    "The currency, as an ISO 4217 code."
    reference: str
    "What it was made for, such as a payment or your own reference."


class Payment(TypedDict):
    "A preparation that is read back, with its result."

    amountMinor: MinorUnits
    "The principal, without fees."
    platformFeeMinor: MinorUnits
    "The platform's layer of the fee."
    organizationFeeMinor: MinorUnits
    "The organization's layer of the fee."
    feeMinor: MinorUnits
    "The fee of both layers together."
    totalDebitMinor: MinorUnits
    "Principal and fee together: what is charged, or taken from the wallet."
    serviceReference: str
    "The payment's stable reference: `pay_…` or `ach_…`. Store it."
    status: PaymentStatus
    "The preparation's until somebody pays, then the transaction's."
    fee: Fee
    "What the fee was computed for."
    currency: CurrencyCode
    "The currency, as an ISO 4217 code."
    paymentMethod: PaymentMethod
    "`web_card` or `ach`."
    provider: str
    "The provider, by its name in the configuration."
    capture: Capture
    "When the money is taken: `automatic` with the payment, or `manual` when you capture it."
    routing: Routing
    "Where it goes, and which rule decided."
    component: NotRequired[Component]
    "On the answer to a component's preparation only."
    checkoutUrl: NotRequired[str]
    "The provider's page to send the customer to; hosted checkout only."
    feeDecision: NotRequired[FeeDecision]
    "What was decided about the card fee last; only where it has a kind."
    preparedAt: Moment | None
    "When the provider had it; null before that."
    expiresAt: Moment
    "Until when it can be paid."
    preparation: Preparation
    "What was made for the customer to pay, whatever was paid."
    flow: Flow
    "Which of the two card flows."
    description: str | None
    "What it is for, in your words."
    metadata: Metadata
    "Your own data about it."
    transaction: Transaction | None
    "The transaction; null if there is none yet."


class PaymentElement(TypedDict):
    publishableKey: str
    "Your publishable key at the provider, for its script."
    clientSecret: str
    "What the provider's script opens the payment with; it belongs in the customer's browser."
    paymentIntentId: str
    "The provider's ID of the payment."
    account: NotRequired[str | None]
    "The connected account that the intent belongs to, where it is not the key's own: pass it to `Stripe(…)` as `stripeAccount`."
    scriptUrl: str
    "The provider's script that draws the component."
    amountMinor: MinorUnits
    "The total debit: what the customer is charged."
    amount: str
    "The total debit as a decimal number, with as many digits behind the point as the currency has."
    currency: CurrencyCode
    "The currency, as an ISO 4217 code."
    paymentMethods: NotRequired[list[str]]
    "Only where the card decides the fee: what can be paid with. The browser makes a confirmation token instead of confirming."
    type: Literal['card_provider_a_payment_element']
    "Which component it is."


class PaymentElementConfirmation(TypedDict):
    paymentIntentId: str
    "The provider's ID of the payment."
    clientStatus: NotRequired[str | None]
    "What the provider's script said in the browser. It is recorded, never trusted."


class PaymentEventData(TypedDict):
    revision: int
    "The payment's revision: an event with a lower one than you have stored is older than what you have stored."
    payment: Payment
    "The preparation, as it was at that moment."


class PaymentRequest(TypedDict):
    amountMinor: AmountInput
    "The principal, without fees."
    currency: CurrencyInput
    "The currency, as an ISO 4217 code."
    paymentMethod: NotRequired[CardMethodInput | None]
    "`web_card`, which is also the default."
    description: NotRequired[str | None]
    "What it is for, in your words."
    customer: NotRequired[CustomerInput | None]
    "Who pays, as far as you know."
    metadata: NotRequired[MetadataInput | None]
    "Your own data about it."
    capture: NotRequired[Capture | None]
    "When the money is taken: `automatic` as soon as the customer pays, `manual` when you capture it. 400 where the selected provider cannot hold it."
    card: NotRequired[CardFeeCard | None]
    "The card that will be charged, if it is known. The fee is decided once the provider has told it."
    payer: NotRequired[CardFeePayer | None]
    "Where the payer is, which decides a card fee that has a kind."
    recurring: NotRequired[bool | None]
    "Whether the payment is one of a series: a subscription, installments. False where it is left out."
    successUrl: NotRequired[ReturnUrlInput | None]
    "Hosted checkout only: where the customer goes after paying."
    cancelUrl: NotRequired[ReturnUrlInput | None]
    "Hosted checkout only: where the customer goes without having paid."


class Preparation(TypedDict):
    "What was made for the customer to pay, whatever was paid."

    status: PreparationStatus
    "How it stands."


class PreparedPayment(TypedDict):
    "What every answer about a preparation has."

    amountMinor: MinorUnits
    "The principal, without fees."
    platformFeeMinor: MinorUnits
    "The platform's layer of the fee."
    organizationFeeMinor: MinorUnits
    "The organization's layer of the fee."
    feeMinor: MinorUnits
    "The fee of both layers together."
    totalDebitMinor: MinorUnits
    "Principal and fee together: what is charged, or taken from the wallet."
    serviceReference: str
    "The payment's stable reference: `pay_…` or `ach_…`. Store it."
    status: PaymentStatus
    "The preparation's until somebody pays, then the transaction's."
    fee: Fee
    "What the fee was computed for."
    currency: CurrencyCode
    "The currency, as an ISO 4217 code."
    paymentMethod: PaymentMethod
    "`web_card` or `ach`."
    provider: str
    "The provider, by its name in the configuration."
    capture: Capture
    "When the money is taken: `automatic` with the payment, or `manual` when you capture it."
    routing: Routing
    "Where it goes, and which rule decided."
    component: NotRequired[Component]
    "On the answer to a component's preparation only."
    checkoutUrl: NotRequired[str]
    "The provider's page to send the customer to; hosted checkout only."
    feeDecision: NotRequired[FeeDecision]
    "What was decided about the card fee last; only where it has a kind."
    preparedAt: Moment | None
    "When the provider had it; null before that."
    expiresAt: Moment
    "Until when it can be paid."


class ProposalEventData(TypedDict):
    approval: ApprovalNotice
    "The approval that the configuration waits for."


class Quote(TypedDict):
    "The answer as it is written below, field by field."

    amountMinor: MinorUnits
    "The principal, without fees."
    currency: CurrencyCode
    "The currency, as an ISO 4217 code."
    platformFeeMinor: MinorUnits
    "The platform's layer of the fee."
    organizationFeeMinor: MinorUnits
    "The organization's layer of the fee."
    feeMinor: MinorUnits
    "The fee of both layers together."
    totalDebitMinor: MinorUnits
    "Principal and fee together: what is charged, or taken from the wallet."
    breakdown: FeeBreakdown
    "What the fee was computed from, layer by layer."
    routing: Routing
    "Where it goes, and which rule decided."
    feeDecision: NotRequired[FeeDecision]
    "Only where the card fee has a kind."


class QuoteRequest(TypedDict):
    amountMinor: AmountInput
    "The principal, without fees."
    currency: CurrencyInput
    "The currency, as an ISO 4217 code."
    paymentMethod: NotRequired[PaymentMethod | None]
    "`web_card` where it is left out."
    flow: NotRequired[Flow | None]
    "With `web_card` only; `payment_component` where it is left out."
    metadata: NotRequired[MetadataInput | None]
    "Your own data about it."
    card: NotRequired[CardFeeCard | None]
    "The card that will be charged. With it and `payer` the quote of a card fee that has a kind is exact."
    payer: NotRequired[CardFeePayer | None]
    "Where the payer is; without it, a surcharge is the lawful minimum."
    recurring: NotRequired[bool | None]
    "Whether the payment is one of a series: a subscription, installments. False where it is left out."
    paymentMethodType: NotRequired[MethodTypeInput | None]
    "What is paid with; a card unless it says otherwise."


class Refund(TypedDict):
    refundReference: str
    "Its stable reference: `re_…`."
    serviceReference: str
    "The payment's stable reference: `pay_…` or `ach_…`. Store it."
    status: RefundStatus
    "How it stands."
    amountMinor: MinorUnits
    "The principal that goes back."
    feeMinor: MinorUnits
    "The part of the service fee that goes back with it."
    totalRefundMinor: MinorUnits
    "Both together: what the customer gets."
    currency: CurrencyCode
    "The currency, as an ISO 4217 code."
    provider: str
    "The provider, by its name in the configuration."
    providerReference: str | None
    "The provider's name for it, once it exists there."
    feeRefund: FeeRefund | None
    "As it was asked for; null for the environment's own rule."
    reason: RefundReason | None
    "Why, in one of a few words; null if nobody said."
    description: str | None
    "What it is for, in your words."
    metadata: Metadata
    "Your own data about it."
    failure: TransactionFailure | None
    "Why it failed, or, while it is pending, why the provider has not sent it yet."
    origin: RefundOrigin
    "Who asked for it: the API, an operator, or somebody in the provider's dashboard."
    approval: TransferApproval | None
    "What people have to decide, or have decided, before it is sent; null if nobody has to."
    createdAt: Moment
    "When it was created."
    updatedAt: Moment
    "When it last changed."


class RefundEventData(TypedDict):
    revision: int
    "The payment's revision: an event with a lower one than you have stored is older than what you have stored."
    transaction: Transaction
    "The transaction, as it was at that moment."
    refund: Refund
    "The refund, as it was at that moment."


class RefundList(TypedDict):
    items: list[Refund]
    "This page of the list."
    nextCursor: str | None
    "The cursor of the next page; null at the end."


class RefundRequest(TypedDict):
    idempotencyKey: str
    "One refund per key: send the same again to retry safely. The `Idempotency-Key` header is the alternative."
    amountMinor: NotRequired[AmountInput | None]
    "The principal to refund; everything that is left if omitted."
    feeRefund: NotRequired[FeeRefund | None]
    "How much of the service fee goes back with it."
    reason: NotRequired[RefundReason | None]
    "Why, in one of a few words; null if nobody said."
    description: NotRequired[str | None]
    "What it is for, in your words."
    metadata: NotRequired[MetadataInput | None]
    "Your own data about it."


class RefundResult(TypedDict):
    "A refund that was asked for."

    refund: Refund
    "The refund."
    replayed: bool
    "Whether this answers a request that was made before; nothing was done again."


class Routing(TypedDict):
    "Where a payment was routed, and by what."

    provider: str
    "The provider, by its name in the configuration."
    channel: Channel
    "The rail the payment takes."
    matchedRuleId: str | None
    "The rule that decided; null if none matched."
    matchedConditionIds: list[str]
    "The conditions of the matched rule, in order."
    fallback: bool
    "Whether no rule matched and the default target was used."
    split: NotRequired[list[RoutingShare]]
    "On a quote whose route is split: every target. The quote is that of the heaviest."
    attempts: NotRequired[list[RoutingAttempt]]
    "Where more than one target was tried: each of them in order, the payment's own provider last."


class RoutingAttempt(TypedDict):
    "A target of a route that was tried."

    provider: str
    "The provider, by its name in the configuration."
    outcome: RouteOutcome
    "How it ended."
    reason: str | None
    "Why the payment is not there; null for the one that is selected."


class RoutingShare(TypedDict):
    "One target of a split."

    provider: str
    "The provider, by its name in the configuration."
    channel: Channel
    "The rail the payment takes."
    weight: int
    "Its share of the payments, relative to the others."


SwitchRequest = TypedDict("SwitchRequest", {"from": "str"})


class Transaction(TypedDict):
    "A transaction."

    amountMinor: MinorUnits
    "The principal, without fees."
    platformFeeMinor: MinorUnits
    "The platform's layer of the fee."
    organizationFeeMinor: MinorUnits
    "The organization's layer of the fee."
    feeMinor: MinorUnits
    "The fee of both layers together."
    totalDebitMinor: MinorUnits
    "Principal and fee together: what is charged, or taken from the wallet."
    serviceReference: str
    "The payment's stable reference: `pay_…` or `ach_…`. Store it."
    revision: int
    "Rises with every change of the payment: of two answers or events, the one with the higher number is the later one."
    status: TransactionStatus
    "How it stands."
    authorized: Amounts | None
    "What was authorized, of a payment that is captured by hand."
    captureBefore: Moment | None
    "When the provider releases what was not captured."
    pendingAction: PendingAction | None
    "A capture, a void or, where one transfer is read, a cancellation whose outcome is not known yet; it is resolved by itself."
    approval: TransferApproval | None
    "What people have to decide, or have decided, before a transfer is sent; only where one transfer is read."
    currency: CurrencyCode
    "The currency, as an ISO 4217 code."
    paymentMethod: PaymentMethod
    "`web_card` or `ach`."
    provider: str
    "The provider, by its name in the configuration."
    channel: Channel
    "The rail the payment takes."
    fee: Fee
    "What the fee was computed for."
    feeKind: NotRequired[FeeKind]
    "What kind of fee the amounts include; only where the card fee has a kind."
    providerReference: str | None
    "The provider's ID of the payment; null before it has one."
    failure: TransactionFailure | None
    "Why it failed; null if it did not."
    refundedMinor: MinorUnits
    "What was given back in total, fees included."
    dispute: Dispute | None
    "The customer's dispute; null if there is none."
    card: TransactionCard | None
    "The card that the customer paid with, or tried last; null for anything else, and where the provider does not say."
    description: str | None
    "What it is for, in your words."
    metadata: Metadata
    "Your own data about it."
    createdAt: Moment
    "When it was created."
    updatedAt: Moment
    "When it last changed."


class TransactionCard(TypedDict):
    "The card that was charged or tried last, as far as the provider describes it."

    brand: str | None
    "`visa`, `mastercard`, `amex`, `discover`, `diners`, `jcb`, `unionpay`, or another of the provider's words."
    last4: str | None
    "The last four digits of the card's number."
    funding: str | None
    "`credit`, `debit` or `prepaid`."
    country: str | None
    "Where the bank is that issued it, as ISO 3166-1 writes it in two letters."
    expiryMonth: int | None
    "The month in which the card expires, from 1."
    expiryYear: int | None
    "The year in which the card expires, in four digits."
    threeDSecure: str | None
    "How the customer was authenticated, in the provider's word, such as `authenticated`; null where that was not tried."
    checks: TransactionCardChecks
    "What the card's bank said of what the customer typed."


class TransactionCardChecks(TypedDict):
    address: CardCheck | None
    "The result for the street and its number."
    postalCode: CardCheck | None
    "The result for the postal code."
    cvc: CardCheck | None
    "The result for the security code."


class TransactionEventData(TypedDict):
    revision: int
    "The payment's revision: an event with a lower one than you have stored is older than what you have stored."
    transaction: Transaction
    "The transaction, as it was at that moment."


class TransactionFailure(TypedDict):
    code: str
    "Why it failed, for programs."
    kind: FailureKind
    "`return`: the receiving bank sent a transfer back, even after it arrived. Everything else is a `failure`."
    message: str
    "Why it failed, for people."


class TransactionList(TypedDict):
    items: list[Transaction]
    "This page of the list."
    nextCursor: str | None
    "The cursor of the next page; null at the end."


class TransactionListQuery(TypedDict):
    status: NotRequired[Literal['pending', 'processing', 'authorized', 'succeeded', 'failed', 'canceled', 'refunded']]
    "Only this status."
    paymentMethod: NotRequired[Literal['web_card', 'ach']]
    "Only this method."
    provider: NotRequired[str]
    "Only this provider."
    partlyRefunded: NotRequired[bool]
    "`true`: only those that are paid and were refunded in part."
    disputed: NotRequired[bool]
    "`true`: only those with a dispute, whatever became of it."
    createdFrom: NotRequired[str]
    "Only from this time on."
    createdBefore: NotRequired[str]
    "Only before this time."
    before: NotRequired[str]
    "The previous page's `nextCursor`."
    limit: NotRequired[int]
    "Maximum number of results."


class TransactionRead(TypedDict):
    "A transaction that is read back."

    amountMinor: MinorUnits
    "The principal, without fees."
    platformFeeMinor: MinorUnits
    "The platform's layer of the fee."
    organizationFeeMinor: MinorUnits
    "The organization's layer of the fee."
    feeMinor: MinorUnits
    "The fee of both layers together."
    totalDebitMinor: MinorUnits
    "Principal and fee together: what is charged, or taken from the wallet."
    serviceReference: str
    "The payment's stable reference: `pay_…` or `ach_…`. Store it."
    revision: int
    "Rises with every change of the payment: of two answers or events, the one with the higher number is the later one."
    status: TransactionStatus
    "How it stands."
    authorized: Amounts | None
    "What was authorized, of a payment that is captured by hand."
    captureBefore: Moment | None
    "When the provider releases what was not captured."
    pendingAction: PendingAction | None
    "A capture, a void or, where one transfer is read, a cancellation whose outcome is not known yet; it is resolved by itself."
    approval: TransferApproval | None
    "What people have to decide, or have decided, before a transfer is sent; only where one transfer is read."
    currency: CurrencyCode
    "The currency, as an ISO 4217 code."
    paymentMethod: PaymentMethod
    "`web_card` or `ach`."
    provider: str
    "The provider, by its name in the configuration."
    channel: Channel
    "The rail the payment takes."
    fee: Fee
    "What the fee was computed for."
    feeKind: NotRequired[FeeKind]
    "What kind of fee the amounts include; only where the card fee has a kind."
    providerReference: str | None
    "The provider's ID of the payment; null before it has one."
    failure: TransactionFailure | None
    "Why it failed; null if it did not."
    refundedMinor: MinorUnits
    "What was given back in total, fees included."
    dispute: Dispute | None
    "The customer's dispute; null if there is none."
    card: TransactionCard | None
    "The card that the customer paid with, or tried last; null for anything else, and where the provider does not say."
    description: str | None
    "What it is for, in your words."
    metadata: Metadata
    "Your own data about it."
    createdAt: Moment
    "When it was created."
    updatedAt: Moment
    "When it last changed."
    transfer: NotRequired[TransferDetail]
    "What a bank transfer has beyond its transaction; left out for card payments."


class Transfer(TypedDict):
    transaction: Transaction
    "The transaction."
    replayed: bool
    "Whether this answers a request that was made before; nothing was done again."
    bankAccount: BankAccount
    "The receiving account, as far as it may be shown."
    routing: Routing
    "Where it goes, and which rule decided."


class TransferApproval(TypedDict):
    "Where the approval of a transfer, a refund or a wallet movement stands."

    state: ApprovalState
    "How it stands."
    count: int
    "How many people have to approve."
    approvals: int
    "How many have."
    reasons: list[str]
    "The IDs of the rules that ask for it, and the limits that it exceeds."


class TransferDetail(TypedDict):
    "What a transfer has beyond its transaction."

    bankAccount: BankAccount
    "The receiving account, as far as it may be shown."
    accountName: str
    "Whose account it is."
    externalCustomerId: str
    "Your own ID of the customer."
    expectedSettlementOn: str | None
    "The day it is expected to arrive, by the banking calendar or by the provider's word."
    waitingFor: str | None
    "Whom it waits for, where a person has to act at the provider before it is sent: an approval, a confirmation, a review. Null otherwise."
    notificationsOfChange: list[Metadata]
    "What the receiving bank asks to be corrected before the next transfer; nothing failed by it. Of a corrected account number the last four digits are shown."
    remittanceData: RemittanceData | None
    "What the recipient reads about it."
    rail: TransferRail | None
    "The network it takes: for instant transfers, the one that the receiving bank takes part in."
    recipientKind: RecipientKind
    "Whether a person or a business receives it."
    purpose: TransferPurpose | None
    "What the transfer is for, where that matters to banks."
    statementDescriptor: StatementDescriptor | None
    "What the recipient's bank statement shows."
    routing: Routing
    "Where it goes, and which rule decided."


class TransferFee(TypedDict):
    platformFeeMinor: MinorUnits
    "The platform's layer of the fee."
    organizationFeeMinor: MinorUnits
    "The organization's layer of the fee."
    feeMinor: MinorUnits
    "The fee of both layers together."


class TransferPreview(TypedDict):
    amountMinor: MinorUnits
    "The principal, without fees."
    currency: CurrencyCode
    "The currency, as an ISO 4217 code."
    routing: TransferRouting
    "Where it goes, and which rule decided."
    fee: TransferFee
    "The fee, by layer and in total."
    totalDebitMinor: MinorUnits
    "Principal and fee together: what is charged, or taken from the wallet."


class TransferPreviewRequest(TypedDict):
    amountMinor: AmountInput
    "The principal, without fees."
    currency: DollarInput
    "The currency, as an ISO 4217 code."
    metadata: NotRequired[MetadataInput | None]
    "Your own data about it."


class TransferRequest(TypedDict):
    idempotencyKey: str
    "One transfer per key: send the same again to retry the same business action safely. The `Idempotency-Key` header is the alternative."
    amountMinor: AmountInput
    "The principal, without fees."
    currency: DollarInput
    "The currency, as an ISO 4217 code."
    customerToken: CustomerTokenInput
    "The customer's details, encrypted for this environment."
    routingNumber: RoutingNumberInput
    "The receiving bank's routing number."
    accountNumber: AccountNumberInput
    "The receiving account's number. It is stored encrypted until the provider has it, then deleted."
    bankAccountType: BankAccountType
    "`checking` or `savings`."
    bankName: str
    "The receiving bank's name, for people."
    accountName: str
    "Whose account it is."
    description: NotRequired[str | None]
    "What it is for, in your words."
    metadata: NotRequired[MetadataInput | None]
    "Your own data about it."
    remittanceData: NotRequired[RemittanceInput | None]
    "What the recipient reads about it."
    recipientKind: NotRequired[RecipientKind | None]
    "Whom it pays: a person (an ACH entry of class PPD) or a company (CCD)."
    purpose: NotRequired[TransferPurpose | None]
    "What it is for: `payroll` makes the description of the ACH entry PAYROLL, as the network's rules want it."
    statementDescriptor: NotRequired[StatementDescriptor | None]
    "What the receiver's statement is to say, such as a short name: at most 10 characters of printable ASCII."


class TransferRouting(TypedDict):
    provider: str
    "The provider, by its name in the configuration."
    channel: Channel
    "The rail the payment takes."
    channelLabel: str
    "The rail in words, such as `Same-day ACH`."
    matchedRuleId: str | None
    "The rule that decided; null if none matched."
    matchedConditionIds: list[str]
    "The conditions of the matched rule, in order."
    fallback: bool
    "Whether no rule matched and the default target was used."
    split: NotRequired[list[RoutingShare]]
    "Every target, where the route is split; the first-named provider is the heaviest one."
    attempts: NotRequired[list[RoutingAttempt]]
    "Where targets were passed over: each of them in order, the selected one last."


class VoidRequest(TypedDict):
    idempotencyKey: str
    "One void per key: send the same again to retry safely. The `Idempotency-Key` header is the alternative."


class Wallet(TypedDict):
    "What a wallet holds."

    currency: CurrencyCode
    "The currency, as an ISO 4217 code."
    availableMinor: MinorUnits
    "What can be spent."
    reservedMinor: MinorUnits
    "What is set aside for transfers on their way."
    settledOutMinor: MinorUnits
    "What has left by transfers that arrived."
    platformFeesMinor: MinorUnits
    "Fees of the platform's layer, in total."
    organizationFeesMinor: MinorUnits
    "Fees of the organization's layer, in total."


class WalletList(TypedDict):
    items: list[Wallet]
    "This page of the list."
    nextCursor: str | None
    "The cursor of the next page; null at the end."


class WebPayments(TypedDict):
    applicationId: str
    "Your application at the provider, for its script."
    locationId: str
    "Your location at the provider, for its script."
    environment: str
    "`sandbox` or `production`: which of the provider's environments it is."
    scriptUrl: str
    "The provider's script that draws the component."
    amountMinor: MinorUnits
    "The total debit: what the customer is charged."
    amount: str
    "The total debit as a decimal number, with as many digits behind the point as the currency has."
    currency: CurrencyCode
    "The currency, as an ISO 4217 code."
    type: Literal['card_provider_b_web_payments']
    "Which component it is."


class WebPaymentsConfirmation(TypedDict):
    sourceId: str
    "The one-time token that the provider's script made of the card."
    verificationToken: NotRequired[str | None]
    "The provider's proof that the buyer was verified, where its script gives one."
    buyerEmail: NotRequired[str | None]
    "Where the provider sends its receipt."


AccountNumberInput: TypeAlias = str
# An integer of minor units from 1 to 10^18, as a string of digits (always exact) or a JSON integer.
AmountInput: TypeAlias = str | int
ApprovalKind: TypeAlias = Literal['transfer', 'refund', 'funds', 'configuration']
ApprovalState: TypeAlias = Literal['required', 'approved', 'denied', 'canceled']
BankAccountType: TypeAlias = Literal['checking', 'savings']
Capture: TypeAlias = Literal['automatic', 'manual']
CardBrand: TypeAlias = Literal['visa', 'mastercard', 'amex', 'discover', 'diners', 'jcb', 'unionpay', 'cartes_bancaires', 'eftpos_au', 'interac', 'unknown']
CardCheck: TypeAlias = Literal['pass', 'fail', 'unavailable', 'unchecked']
CardFunding: TypeAlias = Literal['credit', 'debit', 'prepaid', 'unknown']
# `web_card`, also the default.
CardMethodInput: TypeAlias = Literal['web_card']
Channel: TypeAlias = Literal['web_card', 'standard_ach', 'same_day_ach', 'instant']
CircuitChange: TypeAlias = Literal['open', 'closed']
# What the browser needs to draw the provider's component.
Component: TypeAlias = PaymentElement | WebPayments | DropIn
# The shape that goes with the component the payment was prepared with.
ConfirmationRequest: TypeAlias = PaymentElementConfirmation | WebPaymentsConfirmation | CardFeeConfirmation | DropInConfirmation
# An ISO 3166-1 code of two letters, case-insensitive.
CountryInput: TypeAlias = str
# An ISO 4217 code.
CurrencyCode: TypeAlias = str
# An active ISO 4217 code, case-insensitive.
CurrencyInput: TypeAlias = str
# A token from `customer_token_issue`, of the same environment.
CustomerTokenInput: TypeAlias = str
# Bank transfers are in US dollars.
DollarInput: TypeAlias = str
EmailInput: TypeAlias = str
ErrorCode: TypeAlias = Literal['invalid_body', 'malformed_request', 'card_data_not_allowed', 'unauthenticated', 'secret_key_required', 'key_not_allowed', 'origin_not_allowed', 'forbidden', 'not_found', 'not_paid_yet', 'method_not_allowed', 'request_timeout', 'routing_unavailable', 'insufficient_wallet_balance', 'limit_exceeded', 'idempotency_conflict', 'payment_not_confirmable', 'fee_changed', 'not_switchable', 'not_capturable', 'not_voidable', 'not_cancelable', 'not_approvable', 'not_refundable', 'refund_exceeds_remaining', 'version_conflict', 'no_previous_master_key', 'name_taken', 'email_taken', 'too_many_tokens', 'too_many_proposals', 'key_not_live', 'too_many_endpoints', 'endpoint_busy', 'endpoint_disabled', 'wallet_full', 'body_too_large', 'uri_too_long', 'unsupported_media_type', 'instant_not_supported', 'provider_rejected', 'rate_limited', 'headers_too_large', 'internal', 'server_busy', 'provider_not_configured', 'provider_unavailable', 'store_unavailable', 'outcome_unknown']
# What an event is about, under its own name.
EventData: TypeAlias = RefundEventData | TransactionEventData | PaymentEventData | CircuitEventData | ProposalEventData | AuditLogEventData
EventKind: TypeAlias = Literal['payment.prepared', 'transaction.pending', 'transaction.processing', 'transaction.authorized', 'transaction.succeeded', 'transaction.failed', 'transaction.canceled', 'transaction.refunded', 'refund.pending', 'refund.succeeded', 'refund.failed', 'dispute.opened', 'dispute.updated', 'dispute.closed', 'transfer.notification_of_change', 'approval.required', 'provider.circuit_opened', 'provider.circuit_closed', 'audit_log.head']
FailureKind: TypeAlias = Literal['return', 'failure']
FeeChannel: TypeAlias = Literal['none', 'standard_ach', 'same_day_ach', 'instant']
FeeKind: TypeAlias = Literal['surcharge', 'convenience', 'service', 'neutral']
FeeReasonCode: TypeAlias = Literal['as_configured', 'funding_not_credit', 'not_a_card', 'card_unknown', 'provider_cannot_report', 'no_notice', 'no_entry_notice', 'cost_unknown', 'amex_parity', 'payer_place_unknown', 'prohibited', 'unclear', 'total_price_not_posted', 'country_not_known', 'network_cap', 'place_cap', 'cost_cap', 'convenience_not_flat', 'convenience_not_merchant', 'convenience_recurring', 'convenience_online_only', 'kinds_combined', 'service_mcc', 'neutral_differs', 'refund_pro_rata', 'refund_none', 'refund_free']
FeeRefund: TypeAlias = Literal['proportional', 'full', 'none']
FeeScope: TypeAlias = Literal['platform', 'organization']
Flow: TypeAlias = Literal['payment_component', 'hosted_checkout']
# Any JSON object.
Metadata: TypeAlias = dict[str, Any]
# Any JSON object of at most 16 KiB. Routing rules can match it. It must not contain this service's secret keys.
MetadataInput: TypeAlias = dict[str, Any]
# What pays, by the provider's name for it: `card`, also the default, or another method such as `us_bank_account`.
MethodTypeInput: TypeAlias = str
# An integer of minor units, as a string of digits.
MinorUnits: TypeAlias = str
# RFC 3339, in UTC, with milliseconds.
Moment: TypeAlias = str
MovementCause: TypeAlias = Literal['fund', 'withdraw']
PaymentMethod: TypeAlias = Literal['web_card', 'ach']
PaymentStatus: TypeAlias = Literal['preparing', 'prepared', 'refused', 'withdrawn', 'expired', 'pending', 'processing', 'authorized', 'succeeded', 'failed', 'canceled', 'refunded']
PendingAction: TypeAlias = Literal['capture', 'void', 'cancel']
# E.164 or national format, separators allowed.
PhoneInput: TypeAlias = str
PreparationStatus: TypeAlias = Literal['preparing', 'prepared', 'refused', 'withdrawn', 'expired']
RecipientKind: TypeAlias = Literal['individual', 'business']
RefundOrigin: TypeAlias = Literal['api', 'operator', 'provider', 'service']
RefundReason: TypeAlias = Literal['duplicate', 'fraudulent', 'requested_by_customer', 'other']
RefundStatus: TypeAlias = Literal['pending', 'processing', 'succeeded', 'failed', 'canceled']
# A string of at most 1,000 characters, or a JSON object of at most 4 KiB.
RemittanceData: TypeAlias = str | dict[str, Any]
# A string of at most 1,000 characters, or a JSON object of at most 4 KiB. What the rail cannot carry whole is rejected: an ACH entry has room for 80 characters, an instant transfer for 140.
RemittanceInput: TypeAlias = str | dict[str, Any]
# An https URL; http only on loopback.
ReturnUrlInput: TypeAlias = str
RouteOutcome: TypeAlias = Literal['skipped', 'unavailable', 'refused', 'declined', 'selected']
# Nine digits including the check digit.
RoutingNumberInput: TypeAlias = str
# A state or province as ISO 3166-2 has it behind the country, case-insensitive.
StateInput: TypeAlias = str
# Printable ASCII.
StatementDescriptor: TypeAlias = str
TokenType: TypeAlias = Literal['JWE']
TransactionStatus: TypeAlias = Literal['pending', 'processing', 'authorized', 'succeeded', 'failed', 'canceled', 'refunded']
TransferPurpose: TypeAlias = Literal['payroll']
TransferRail: TypeAlias = Literal['ach', 'rtp', 'fednow']

# Method, path, and whether it takes the `Idempotency-Key` header.
OPERATIONS: dict[str, tuple[str, str, bool]] = {
    "fee_quote": ("POST", "/client/v1/fees/quote", False),
    "payment_prepare": ("POST", "/client/v1/payments", True),
    "component_prepare": ("POST", "/client/v1/payments/component", True),
    "component_card": ("POST", "/client/v1/payments/component/{reference}/card", False),
    "component_confirm": ("POST", "/client/v1/payments/component/{reference}/confirm", False),
    "component_switch": ("POST", "/client/v1/payments/component/{reference}/switch", False),
    "payment_read": ("GET", "/client/v1/payments/{reference}", False),
    "customer_token_issue": ("POST", "/client/v1/ach/customer-tokens", True),
    "transfer_preview": ("POST", "/client/v1/ach/transfers/preview", False),
    "transfer_make": ("POST", "/client/v1/ach/transfers", False),
    "transfer_cancel": ("POST", "/client/v1/ach/transfers/{reference}/cancel", False),
    "payment_capture": ("POST", "/client/v1/transactions/{reference}/capture", False),
    "payment_void": ("POST", "/client/v1/transactions/{reference}/void", False),
    "refund_create": ("POST", "/client/v1/transactions/{reference}/refunds", False),
    "refund_list": ("GET", "/client/v1/transactions/{reference}/refunds", False),
    "refund_read": ("GET", "/client/v1/refunds/{refund}", False),
    "transaction_list": ("GET", "/client/v1/transactions", False),
    "transaction_read": ("GET", "/client/v1/transactions/{reference}", False),
    "client_wallet": ("GET", "/client/v1/wallet", False),
}
