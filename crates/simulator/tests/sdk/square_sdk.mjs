// The official Square library for Node against the simulator: pay, refund, list, links, webhooks.

import assert from "node:assert/strict";

import { Receiver, collect, library, post, simulator } from "./library.mjs";

const { SquareClient, SquareError, WebhooksHelper } = library("square");
const KEY = "signature key of the sdk test";
const LOCATION = "LSIMULATOR001";

const client = new SquareClient({ token: "square_simulator_token", baseUrl: simulator, maxRetries: 0 });
const receiver = await Receiver.of("square", KEY);
const money = (amount) => ({ amount: BigInt(amount), currency: "USD" });
const card = { sourceId: "cnon:card-nonce-ok", amountMoney: money(1999) };

/** The codes with which a call is refused. */
async function codes(call) {
  const error = await call.then(() => assert.fail("it was accepted"), (error) => error);
  assert.ok(error instanceof SquareError, String(error));
  return error.errors.map((each) => each.code);
}

assert.equal((await client.locations.list()).locations[0].id, LOCATION);

// Pay once per key.
const order = { ...card, idempotencyKey: "sdk-1", referenceId: "ours" };
const { payment } = await client.payments.create(order);
assert.deepEqual([payment.status, payment.cardDetails.status], ["COMPLETED", "CAPTURED"]);
assert.equal((await client.payments.create(order)).payment.id, payment.id);
assert.deepEqual(await codes(client.payments.create({ ...order, amountMoney: money(1) })), [
  "IDEMPOTENCY_KEY_REUSED",
]);
const declined = { ...card, sourceId: "cnon:card-nonce-declined", idempotencyKey: "sdk-2" };
assert.deepEqual(await codes(client.payments.create(declined)), ["GENERIC_DECLINE"]);
assert.equal((await client.payments.get({ paymentId: payment.id })).payment.referenceId, "ours");
const listed = await collect(await client.payments.list({ limit: 1 }));
assert.deepEqual([listed.length, listed[1].id], [2, payment.id]);

// Hold, then complete or cancel.
const held = [];
for (const number of [0, 1, 2]) {
  const hold = { ...card, idempotencyKey: `hold-${number}`, autocomplete: false };
  held.push((await client.payments.create(hold)).payment);
}
assert.equal(held[0].status, "APPROVED");
const complete = { paymentId: held[0].id, versionToken: held[0].versionToken };
assert.equal((await client.payments.complete(complete)).payment.status, "COMPLETED");
assert.equal((await client.payments.cancel({ paymentId: held[1].id })).payment.status, "CANCELED");
await client.payments.cancelByIdempotencyKey({ idempotencyKey: "hold-2" });
assert.equal((await client.payments.get({ paymentId: held[2].id })).payment.status, "CANCELED");

// Refund, and not more than there is.
const back = { idempotencyKey: "back-1", paymentId: payment.id, amountMoney: money(500), reason: "broken" };
const { refund } = await client.refunds.refundPayment(back);
assert.equal(refund.status, "PENDING");
assert.equal((await client.refunds.get({ refundId: refund.id })).refund.status, "COMPLETED");
assert.deepEqual((await collect(await client.refunds.list())).map((each) => each.id), [refund.id]);
assert.equal((await client.payments.get({ paymentId: payment.id })).payment.refundedMoney.amount, 500n);
const tooMuch = { ...back, idempotencyKey: "back-2", amountMoney: money(1500) };
assert.deepEqual(await codes(client.refunds.refundPayment(tooMuch)), ["REFUND_AMOUNT_INVALID"]);

// A payment link, paid as a browser would at an address of this very port.
const { paymentLink: link } = await client.checkout.paymentLinks.create({
  idempotencyKey: "link-1",
  quickPay: { name: "Tea", priceMoney: money(1250), locationId: LOCATION },
  checkoutOptions: { redirectUrl: "https://shop.test/done" },
});
assert.ok(link.url.startsWith(`${simulator}/pay/`), link.url);
assert.equal(await post(link.url, "number=4111111111111111&expiry=12/34&cvc=123"), 303);
const paid = (await client.orders.get({ orderId: link.orderId })).order;
assert.deepEqual([paid.state, paid.netAmountDueMoney.amount], ["OPEN", 0n]);
const tender = await client.payments.get({ paymentId: paid.tenders[0].id });
assert.equal(tender.payment.orderId, link.orderId);

// The library accepts every delivery, and refuses one signed for another address.
for (const { body, headers } of await receiver.take(14)) {
  const signed = {
    requestBody: body,
    signatureHeader: headers["x-square-hmacsha256-signature"],
    signatureKey: KEY,
  };
  assert.ok(await WebhooksHelper.verifySignature({ ...signed, notificationUrl: receiver.url }));
  assert.ok(!(await WebhooksHelper.verifySignature({ ...signed, notificationUrl: `${receiver.url}/` })));
}
console.log("ok");
