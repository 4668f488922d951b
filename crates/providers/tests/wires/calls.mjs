// The calls of each provider's API that the adapters make or the simulator answers, with the official library's types of
// what is sent and what comes back. `camel` marks queries whose type the library only has in its own spelling.

const stripe = (name, list) => list.map(([operation, method, path, params, answer]) => ({
  operation: `${name}.${operation}`, method, path, params: params && `Stripe.${params}`, answer: `Stripe.${answer}`,
}));
const page = (item) => `ApiList<Stripe.${item}>`;

const square = (operation, method, path, { body, query, answer }) => ({
  operation, method, path, camel: query !== undefined,
  params: body ? `serialization.${body}.Raw` : query && `Square.${query}`,
  answer: `serialization.${answer}.Raw`,
});

/** `dispute.state.updated` is a `DisputeStateUpdatedEvent`. */
const squareEvent = (kind) => {
  const words = kind.split(/[._]/).map((word) => word[0].toUpperCase() + word.slice(1));
  return `serialization.${words.join('')}Event.Raw`;
};

const transfers = (name, path, type) => [
  [`${name}.create`, 'POST', path, `Increase.${type}CreateParams`, `Increase.${type}`],
  [`${name}.list`, 'GET', path, `Increase.${type}ListParams`, `Listed<Increase.${type}>`],
  [`${name}.retrieve`, 'GET', `${path}/*`, null, `Increase.${type}`],
  [`${name}.approve`, 'POST', `${path}/*/approve`, null, `Increase.${type}`],
  [`${name}.cancel`, 'POST', `${path}/*/cancel`, null, `Increase.${type}`],
];

/** The library's list leaves out events that Adyen's own description of its webhooks has. */
const ADYEN_EVENTS = ['PREARBITRATION_ACCEPTED', 'PREARBITRATION_DECLINED', 'PREARBITRATION_ISSUER_WITHDRAWN',
  'PREARBITRATION_OPEN', 'SCHEME_ARBITRATION', 'SCHEME_ARBITRATION_LOST', 'SCHEME_ARBITRATION_WON'];
const adyenItem = "Omit<Types.notification.NotificationRequestItem, 'eventCode'> & { eventCode:"
  + ` Types.notification.NotificationRequestItem.EventCodeEnum${ADYEN_EVENTS.map((code) => ` | '${code}'`).join('')} }`;
const adyenNotification = "{ live: 'true' | 'false'; notificationItems: Array<{ NotificationRequestItem:"
  + ` ${adyenItem} }> }`;

const adyen = (name, method, path, params, answer) => {
  const of = path.startsWith('/v3/') ? 'management' : 'checkout';
  const type = (word) => word && `Types.${of}.${word}`;
  return { operation: name, method, path, params: type(params), answer: answer === null ? 'null' : type(answer) };
};
const adyenWebhooks = '/v3/merchants/*/webhooks';

export const providers = {
  adyen: {
    package: '@adyen/api-library',
    imports: "import type { Types } from '@adyen/api-library';",
    error: 'Types.checkout.ServiceError | Types.management.RestServiceError',
    kind: (event) => event.notificationItems[0].NotificationRequestItem.eventCode,
    webhook: () => adyenNotification,
    webhooks: { notification: adyenNotification },
    calls: [
      adyen('sessions.create', 'POST', '/v72/sessions', 'CreateCheckoutSessionRequest', 'CreateCheckoutSessionResponse'),
      { ...adyen('sessions.result', 'GET', '/v72/sessions/*', null, 'SessionResultResponse'), params: '{ sessionResult: string }' },
      adyen('payment_methods.list', 'POST', '/v72/paymentMethods', 'PaymentMethodsRequest', 'PaymentMethodsResponse'),
      adyen('payments.create', 'POST', '/v72/payments', 'PaymentRequest', 'PaymentResponse'),
      adyen('payments.details', 'POST', '/v72/payments/details', 'PaymentDetailsRequest', 'PaymentDetailsResponse'),
      adyen('payment_links.create', 'POST', '/v72/paymentLinks', 'PaymentLinkRequest', 'PaymentLinkResponse'),
      adyen('payment_links.get', 'GET', '/v72/paymentLinks/*', null, 'PaymentLinkResponse'),
      adyen('payment_links.update', 'PATCH', '/v72/paymentLinks/*', 'UpdatePaymentLinkRequest', 'PaymentLinkResponse'),
      ...[['captures', 'Capture'], ['cancels', 'Cancel'], ['refunds', 'Refund'], ['reversals', 'Reversal']].map(
        ([name, type]) => adyen(`${name}.create`, 'POST', `/v72/payments/*/${name}`, `Payment${type}Request`,
          `Payment${type}Response`),
      ),
      adyen('cancels.by_reference', 'POST', '/v72/cancels', 'StandalonePaymentCancelRequest',
        'StandalonePaymentCancelResponse'),
      adyen('me.get', 'GET', '/v3/me', null, 'MeApiCredential'),
      adyen('allowed_origins.list', 'GET', '/v3/me/allowedOrigins', null, 'AllowedOriginsResponse'),
      adyen('allowed_origins.create', 'POST', '/v3/me/allowedOrigins', 'CreateAllowedOriginRequest', 'AllowedOrigin'),
      adyen('allowed_origins.delete', 'DELETE', '/v3/me/allowedOrigins/*', null, null),
      adyen('merchants.get', 'GET', '/v3/merchants/*', null, 'Merchant'),
      { ...adyen('webhooks.list', 'GET', adyenWebhooks, null, 'ListWebhooksResponse'),
        params: '{ pageNumber?: number; pageSize?: number }' },
      adyen('webhooks.create', 'POST', adyenWebhooks, 'CreateMerchantWebhookRequest', 'Webhook'),
      adyen('webhooks.get', 'GET', `${adyenWebhooks}/*`, null, 'Webhook'),
      adyen('webhooks.update', 'PATCH', `${adyenWebhooks}/*`, 'UpdateMerchantWebhookRequest', 'Webhook'),
      adyen('webhooks.delete', 'DELETE', `${adyenWebhooks}/*`, null, null),
      adyen('webhooks.generate_hmac', 'POST', `${adyenWebhooks}/*/generateHmac`, null, 'GenerateHmacKeyResponse'),
      adyen('webhooks.test', 'POST', `${adyenWebhooks}/*/test`, 'TestWebhookRequest', 'TestWebhookResponse'),
      adyen('apple_pay_domains.add', 'POST', '/v3/merchants/*/paymentMethodSettings/*/addApplePayDomains', 'ApplePayInfo',
        null),
    ],
  },
  stripe: {
    package: 'stripe',
    imports: "import Stripe from 'stripe'; import type { ApiList } from './node_modules/stripe/esm/lib.js';"
      + " import type { StripeRawError } from './node_modules/stripe/esm/Types.js';"
      + " import type { TestHelpers as Helpers } from './node_modules/stripe/esm/resources/TestHelpers/ConfirmationTokens.js';",
    form: true,
    error: '{ error: StripeRawError }',
    webhook: (event) => (event.object === 'v2.core.event' ? 'Stripe.V2.Core.EventNotification' : 'Stripe.Event'),
    webhooks: { event: 'Stripe.Event', 'thin event': 'Stripe.V2.Core.EventNotification' },
    calls: [
      ...stripe('payment_intents', [
        ['create', 'POST', '/v1/payment_intents', 'PaymentIntentCreateParams', 'PaymentIntent'],
        ['retrieve', 'GET', '/v1/payment_intents/*', 'PaymentIntentRetrieveParams', 'PaymentIntent'],
        ['update', 'POST', '/v1/payment_intents/*', 'PaymentIntentUpdateParams', 'PaymentIntent'],
        ['confirm', 'POST', '/v1/payment_intents/*/confirm', 'PaymentIntentConfirmParams', 'PaymentIntent'],
        ['cancel', 'POST', '/v1/payment_intents/*/cancel', 'PaymentIntentCancelParams', 'PaymentIntent'],
        ['capture', 'POST', '/v1/payment_intents/*/capture', 'PaymentIntentCaptureParams', 'PaymentIntent'],
      ]),
      ...stripe('checkout.sessions', [
        ['create', 'POST', '/v1/checkout/sessions', 'Checkout.SessionCreateParams', 'Checkout.Session'],
        ['retrieve', 'GET', '/v1/checkout/sessions/*', 'Checkout.SessionRetrieveParams', 'Checkout.Session'],
        ['expire', 'POST', '/v1/checkout/sessions/*/expire', 'Checkout.SessionExpireParams', 'Checkout.Session'],
      ]),
      ...stripe('refunds', [
        ['create', 'POST', '/v1/refunds', 'RefundCreateParams', 'Refund'],
        ['retrieve', 'GET', '/v1/refunds/*', 'RefundRetrieveParams', 'Refund'],
      ]),
      ...stripe('charges', [['retrieve', 'GET', '/v1/charges/*', 'ChargeRetrieveParams', 'Charge']]),
      ...stripe('disputes', [['retrieve', 'GET', '/v1/disputes/*', 'DisputeRetrieveParams', 'Dispute']]),
      ...stripe('events', [['retrieve', 'GET', '/v1/events/*', 'EventRetrieveParams', 'Event']]),
      ...stripe('account', [['retrieve', 'GET', '/v1/account', 'AccountRetrieveCurrentParams', 'Account']]),
      ...stripe('accounts', [['retrieve', 'GET', '/v1/accounts/*', 'AccountRetrieveParams', 'Account']]),
      ...stripe('balance', [['retrieve', 'GET', '/v1/balance', 'BalanceRetrieveParams', 'Balance']]),
      ...stripe('payment_methods', [
        ['create', 'POST', '/v1/payment_methods', 'PaymentMethodCreateParams', 'PaymentMethod'],
      ]),
      ...stripe('confirmation_tokens', [
        ['retrieve', 'GET', '/v1/confirmation_tokens/*', 'ConfirmationTokenRetrieveParams', 'ConfirmationToken'],
      ]),
      // The browser's script makes them; what its call takes is what the test helper takes.
      ...['confirmation_tokens', 'test_helpers.confirmation_tokens'].map((name) => ({
        operation: `${name}.create`, method: 'POST', path: `/v1/${name.replace('.', '/')}`,
        params: 'Helpers.ConfirmationTokenCreateParams', answer: 'Stripe.ConfirmationToken',
      })),
      ...stripe('webhook_endpoints', [
        ['create', 'POST', '/v1/webhook_endpoints', 'WebhookEndpointCreateParams', 'WebhookEndpoint'],
        ['retrieve', 'GET', '/v1/webhook_endpoints/*', 'WebhookEndpointRetrieveParams', 'WebhookEndpoint'],
        ['update', 'POST', '/v1/webhook_endpoints/*', 'WebhookEndpointUpdateParams', 'WebhookEndpoint'],
        ['delete', 'DELETE', '/v1/webhook_endpoints/*', null, 'DeletedWebhookEndpoint'],
      ]),
      ...stripe('payment_method_domains', [
        ['create', 'POST', '/v1/payment_method_domains', 'PaymentMethodDomainCreateParams', 'PaymentMethodDomain'],
        ['retrieve', 'GET', '/v1/payment_method_domains/*', 'PaymentMethodDomainRetrieveParams', 'PaymentMethodDomain'],
        ['validate', 'POST', '/v1/payment_method_domains/*/validate', 'PaymentMethodDomainValidateParams',
          'PaymentMethodDomain'],
      ]),
      ...[
        ['payment_intents', 'PaymentIntent'], ['refunds', 'Refund'], ['charges', 'Charge'],
        ['disputes', 'Dispute'], ['events', 'Event'], ['webhook_endpoints', 'WebhookEndpoint'],
        ['payment_method_domains', 'PaymentMethodDomain'],
      ].map(([name, type]) => ({
        operation: `${name}.list`, method: 'GET', path: `/v1/${name}`, params: `Stripe.${type}ListParams`, answer: page(type),
      })),
      {
        operation: 'checkout.sessions.list', method: 'GET', path: '/v1/checkout/sessions',
        params: 'Stripe.Checkout.SessionListParams', answer: page('Checkout.Session'),
      },
    ],
  },
  square: {
    package: 'square',
    imports: "import type { Square, serialization } from 'square';",
    error: '{ errors: serialization.Error_.Raw[]; payment?: serialization.Payment.Raw;'
      + ' refund?: serialization.PaymentRefund.Raw }',
    webhook: (event) => squareEvent(event.type),
    webhooks: Object.fromEntries(['payment.created', 'payment.updated', 'refund.created', 'refund.updated', 'dispute.created',
      'dispute.state.updated'].map((kind) => [kind, squareEvent(kind)])),
    calls: [
      square('payments.create', 'POST', '/v2/payments', { body: 'CreatePaymentRequest', answer: 'CreatePaymentResponse' }),
      square('payments.list', 'GET', '/v2/payments', { query: 'ListPaymentsRequest', answer: 'ListPaymentsResponse' }),
      square('payments.cancel_by_key', 'POST', '/v2/payments/cancel', {
        body: 'CancelPaymentByIdempotencyKeyRequest', answer: 'CancelPaymentByIdempotencyKeyResponse',
      }),
      square('payments.get', 'GET', '/v2/payments/*', { answer: 'GetPaymentResponse' }),
      square('payments.update', 'PUT', '/v2/payments/*', { body: 'UpdatePaymentRequest', answer: 'UpdatePaymentResponse' }),
      square('payments.complete', 'POST', '/v2/payments/*/complete', {
        body: 'CompletePaymentRequest', answer: 'CompletePaymentResponse',
      }),
      square('payments.cancel', 'POST', '/v2/payments/*/cancel', { answer: 'CancelPaymentResponse' }),
      square('refunds.create', 'POST', '/v2/refunds', { body: 'RefundPaymentRequest', answer: 'RefundPaymentResponse' }),
      square('refunds.list', 'GET', '/v2/refunds', {
        query: 'ListRefundsRequest', answer: 'ListPaymentRefundsResponse',
      }),
      square('refunds.get', 'GET', '/v2/refunds/*', { answer: 'GetPaymentRefundResponse' }),
      square('disputes.list', 'GET', '/v2/disputes', { query: 'ListDisputesRequest', answer: 'ListDisputesResponse' }),
      square('disputes.get', 'GET', '/v2/disputes/*', { answer: 'GetDisputeResponse' }),
      square('payment_links.create', 'POST', '/v2/online-checkout/payment-links', {
        body: 'checkout.CreatePaymentLinkRequest', answer: 'CreatePaymentLinkResponse',
      }),
      square('payment_links.list', 'GET', '/v2/online-checkout/payment-links', {
        query: 'checkout.ListPaymentLinksRequest', answer: 'ListPaymentLinksResponse',
      }),
      square('payment_links.get', 'GET', '/v2/online-checkout/payment-links/*', { answer: 'GetPaymentLinkResponse' }),
      square('payment_links.delete', 'DELETE', '/v2/online-checkout/payment-links/*', { answer: 'DeletePaymentLinkResponse' }),
      square('orders.get', 'GET', '/v2/orders/*', { answer: 'GetOrderResponse' }),
      square('locations.list', 'GET', '/v2/locations', { answer: 'ListLocationsResponse' }),
      square('locations.get', 'GET', '/v2/locations/*', { answer: 'GetLocationResponse' }),
      square('webhook_subscriptions.list', 'GET', '/v2/webhooks/subscriptions', {
        query: 'webhooks.ListSubscriptionsRequest', answer: 'ListWebhookSubscriptionsResponse',
      }),
      square('webhook_subscriptions.create', 'POST', '/v2/webhooks/subscriptions', {
        body: 'webhooks.CreateWebhookSubscriptionRequest', answer: 'CreateWebhookSubscriptionResponse',
      }),
      square('webhook_subscriptions.get', 'GET', '/v2/webhooks/subscriptions/*', { answer: 'GetWebhookSubscriptionResponse' }),
      square('webhook_subscriptions.update', 'PUT', '/v2/webhooks/subscriptions/*', {
        body: 'webhooks.UpdateWebhookSubscriptionRequest', answer: 'UpdateWebhookSubscriptionResponse',
      }),
      square('webhook_subscriptions.delete', 'DELETE', '/v2/webhooks/subscriptions/*', {
        answer: 'DeleteWebhookSubscriptionResponse',
      }),
    ],
  },
  increase: {
    package: 'increase',
    imports: "import Increase from 'increase'; type Listed<T> = { data: Array<T>; next_cursor: string | null };",
    // The library keeps a refusal's body as it came.
    error: '{ type: string; title: string; detail: string | null; status: number; errors?: object[]; reason?: string;'
      + ' resource_id?: string; retry_after?: number | null; likely_environment?: string }',
    webhook: () => 'Increase.UnwrapWebhookEvent',
    webhooks: { event: 'Increase.UnwrapWebhookEvent' },
    calls: [
      ...transfers('ach_transfers', '/ach_transfers', 'ACHTransfer'),
      ...transfers('real_time_payments_transfers', '/real_time_payments_transfers', 'RealTimePaymentsTransfer'),
      ...transfers('fednow_transfers', '/fednow_transfers', 'FednowTransfer'),
      ['routing_numbers.list', 'GET', '/routing_numbers', 'Increase.RoutingNumberListParams',
        'Listed<Increase.RoutingNumberListResponse>'],
      ['accounts.retrieve', 'GET', '/accounts/*', null, 'Increase.Account'],
      ['accounts.balance', 'GET', '/accounts/*/balance', 'Increase.AccountBalanceParams', 'Increase.BalanceLookup'],
      ['account_numbers.retrieve', 'GET', '/account_numbers/*', null, 'Increase.AccountNumber'],
      ['event_subscriptions.list', 'GET', '/event_subscriptions', 'Increase.EventSubscriptionListParams',
        'Listed<Increase.EventSubscription>'],
      ['event_subscriptions.create', 'POST', '/event_subscriptions', 'Increase.EventSubscriptionCreateParams',
        'Increase.EventSubscription'],
      ['event_subscriptions.retrieve', 'GET', '/event_subscriptions/*', null, 'Increase.EventSubscription'],
      ['event_subscriptions.update', 'PATCH', '/event_subscriptions/*', 'Increase.EventSubscriptionUpdateParams',
        'Increase.EventSubscription'],
      ['events.list', 'GET', '/events', 'Increase.EventListParams', 'Listed<Increase.Event>'],
      ['events.retrieve', 'GET', '/events/*', null, 'Increase.Event'],
      ...['submit', 'acknowledge', 'settle', 'return', 'create_notification_of_change'].map((step) => [
        `simulations.ach_transfers.${step}`, 'POST', `/simulations/ach_transfers/*/${step}`, null, 'Increase.ACHTransfer',
      ]),
      ['simulations.real_time_payments_transfers.complete', 'POST', '/simulations/real_time_payments_transfers/*/complete',
        null, 'Increase.RealTimePaymentsTransfer'],
    ].map((call) => (Array.isArray(call)
      ? { operation: call[0], method: call[1], path: call[2], params: call[3], answer: call[4] } : call)),
  },
};

// What a public preview of the API adds, by the preview of the library. It has the rest, too, in an older form.
const PREVIEWED = /^(payment_intents|confirmation_tokens|test_helpers)\./;
providers.stripe_preview = {
  ...providers.stripe,
  package: 'stripe-preview',
  imports: providers.stripe.imports.replaceAll("'stripe'", "'stripe-preview'").replaceAll('node_modules/stripe/', 'node_modules/stripe-preview/'),
  calls: providers.stripe.calls.filter(({ operation }) => PREVIEWED.test(operation)),
};
