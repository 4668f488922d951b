// The official Stripe library for Node against the simulator. It takes a host and a port, but no path.

import assert from "node:assert/strict";

import { Receiver, collect, library, post, simulator } from "./library.mjs";

const Stripe = library("stripe");
const SECRET = "whsec_from_the_sdk_test";
const { hostname: host, port } = new URL(simulator);
const connection = { host, port, protocol: "http", maxNetworkRetries: 0, telemetry: false };

const stripe = new Stripe("sk_test_simulator", connection);
const receiver = await Receiver.of("stripe", SECRET);

// Create, with nested parameters and odd characters, once per key.
const order = {
  amount: 1999,
  currency: "usd",
  automatic_payment_methods: { enabled: true, allow_redirects: "never" },
  metadata: { "order id": "a&b=c ü" },
};
const intent = await stripe.paymentIntents.create(order, { idempotencyKey: "sdk-1" });
assert.equal(intent.status, "requires_payment_method");
assert.equal(intent.metadata["order id"], "a&b=c ü");
const again = await stripe.paymentIntents.create(order, { idempotencyKey: "sdk-1" });
assert.equal(again.id, intent.id);
assert.equal(again.lastResponse.headers["idempotent-replayed"], "true");
await assert.rejects(
  stripe.paymentIntents.create({ amount: 1, currency: "eur" }, { idempotencyKey: "sdk-1" }),
  Stripe.errors.StripeIdempotencyError,
);

// Decline, then pay, on one intent.
await assert.rejects(
  stripe.paymentIntents.confirm(intent.id, { payment_method: "pm_card_chargeDeclined" }),
  (error) => {
    assert.ok(error instanceof Stripe.errors.StripeCardError);
    assert.deepEqual([error.code, error.decline_code], ["card_declined", "generic_decline"]);
    assert.equal(error.payment_intent.status, "requires_payment_method");
    return true;
  },
);
const paid = await stripe.paymentIntents.confirm(intent.id, { payment_method: "pm_card_visa" });
assert.equal(paid.status, "succeeded");
const read = await stripe.paymentIntents.retrieve(intent.id, { expand: ["latest_charge"] });
assert.equal(read.latest_charge.payment_method_details.card.last4, "4242");

// Refund in two parts and list them.
const first = await stripe.refunds.create({ payment_intent: intent.id, amount: 500 });
const rest = await stripe.refunds.create({ payment_intent: intent.id, reason: "requested_by_customer" });
assert.deepEqual([first.status, rest.amount], ["succeeded", 1499]);
const listed = await collect(stripe.refunds.list({ payment_intent: intent.id, limit: 1 }));
assert.deepEqual(listed.map((refund) => refund.id), [rest.id, first.id]);
assert.ok((await stripe.charges.retrieve(read.latest_charge.id)).refunded);
await assert.rejects(
  stripe.refunds.create({ payment_intent: intent.id }),
  (error) => error.code === "charge_already_refunded",
);

// The library names the parameter that does not exist, and a key that is wrong.
await assert.rejects(
  stripe.paymentIntents.create({ amount: 1999, currency: "usd", colour: "red" }),
  (error) => error.code === "parameter_unknown" && error.param === "colour",
);
await assert.rejects(
  new Stripe("sk_test_wrong", connection).refunds.list(),
  Stripe.errors.StripeAuthenticationError,
);

// Capture and cancel.
const hold = { amount: 700, currency: "eur", capture_method: "manual", confirm: true, payment_method: "pm_card_visa" };
const held = await stripe.paymentIntents.create(hold);
assert.equal(held.status, "requires_capture");
assert.equal((await stripe.paymentIntents.capture(held.id)).amount_received, 700);
const open = await stripe.paymentIntents.create({ amount: 700, currency: "eur" });
assert.equal((await stripe.paymentIntents.cancel(open.id)).status, "canceled");

// Hosted checkout, paid as a browser would at an address of this very port.
const session = await stripe.checkout.sessions.create({
  mode: "payment",
  success_url: "https://shop.test/done?session={CHECKOUT_SESSION_ID}",
  client_reference_id: "ours",
  line_items: [
    { quantity: 1, price_data: { currency: "usd", unit_amount: 1250, product_data: { name: "Tea" } } },
  ],
});
assert.ok(session.url.startsWith(`${simulator}/pay/`), session.url);
assert.equal(await post(session.url, "number=4242424242424242&expiry=12/34&cvc=123"), 303);
const done = await stripe.checkout.sessions.retrieve(session.id, { expand: ["payment_intent"] });
assert.deepEqual([done.status, done.payment_status, done.payment_intent.status], ["complete", "paid", "succeeded"]);

// The library accepts every delivery, and refuses one whose body was changed.
const isLast = ({ body }) => JSON.parse(body).type === "checkout.session.completed";
const deliveries = await receiver.until((arrived) => arrived.some(isLast));
const events = deliveries.map(({ body, headers }) =>
  stripe.webhooks.constructEvent(body, headers["stripe-signature"], SECRET),
);
for (const { body, headers } of deliveries) {
  assert.throws(
    () => stripe.webhooks.constructEvent(`${body} `, headers["stripe-signature"], SECRET),
    Stripe.errors.StripeSignatureVerificationError,
  );
}
const kinds = new Set(events.map((event) => event.type));
for (const kind of [
  "payment_intent.succeeded",
  "payment_intent.payment_failed",
  "payment_intent.canceled",
  "charge.refunded",
  "refund.created",
  "checkout.session.completed",
]) {
  assert.ok(kinds.has(kind), `${kind} is not among ${[...kinds]}`);
}
const known = new Set((await stripe.events.list({ limit: 100 })).data.map((event) => event.id));
assert.ok(events.every((event) => known.has(event.id)));
console.log("ok");
