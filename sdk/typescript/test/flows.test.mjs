// Every kind of payment, against the sandbox.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { inspect } from "node:util";

import * as sdk from "@tollgate/sdk";
import { Tollgate } from "@tollgate/sdk";

import { admin, notes, payIntent, receiver } from "./sandbox.mjs";

const tollgate = new Tollgate({ baseUrl: notes.baseUrl, apiKey: notes.secretKey });
const SMALL = { amountMinor: "12500", currency: "USD" };
const LARGE = { amountMinor: "125000", currency: "USD" };
const TRANSFER = {
  amountMinor: "5000",
  currency: "USD",
  routingNumber: "110000000",
  accountNumber: "000123456789",
  bankAccountType: "checking",
  bankName: "First Bank",
  accountName: "Ann Smith",
};
const CUSTOMER = { externalCustomerId: "c-1", email: "ann@example.com", firstName: "Ann", lastName: "Smith" };

test("a quote is exact", async () => {
  const quote = await tollgate.fees.quote(SMALL);
  assert.deepEqual([quote.feeMinor, quote.totalDebitMinor], ["456", "12956"]);
  const large = await tollgate.fees.quote({ ...SMALL, amountMinor: "9007199254740993" });
  assert.equal(large.amountMinor, "9007199254740993");
});

test("a hosted checkout is prepared and read back", async () => {
  const prepared = await tollgate.payments.createCheckout({ ...SMALL, description: "Order 1" });
  assert.match(prepared.checkoutUrl, /^http/);
  const payment = await tollgate.payments.retrieve(prepared.serviceReference);
  assert.deepEqual([payment.status, payment.transaction, payment.description], ["prepared", null, "Order 1"]);
  const unpaid = tollgate.transactions.retrieve(prepared.serviceReference);
  await assert.rejects(unpaid, (error) => error instanceof sdk.NotFoundError && error.code === "not_paid_yet");
});

test("the first provider's component is paid and refunded", async () => {
  const { serviceReference, component } = await tollgate.payments.createComponent(SMALL);
  assert.equal(component.type, "card_provider_a_payment_element");
  await payIntent(component);
  const body = { paymentIntentId: component.paymentIntentId, clientStatus: "succeeded" };
  const { transaction } = await tollgate.payments.confirm(serviceReference, body);
  assert.equal(transaction.status, "succeeded");

  const part = { idempotencyKey: `refund-${randomUUID()}`, amountMinor: "2500", reason: "requested_by_customer" };
  const { refund } = await tollgate.refunds.create(serviceReference, part);
  assert.deepEqual([refund.status, refund.amountMinor], ["succeeded", "2500"]);
  const again = await tollgate.refunds.create(serviceReference, part);
  assert.deepEqual([again.replayed, again.refund.refundReference], [true, refund.refundReference]);
  assert.deepEqual(await tollgate.refunds.retrieve(refund.refundReference), refund);
  assert.deepEqual((await tollgate.refunds.list(serviceReference)).items, [refund]);
  const tooMuch = tollgate.refunds.create(serviceReference, { idempotencyKey: randomUUID(), amountMinor: "12500" });
  await assert.rejects(tooMuch, (error) => {
    assert.ok(error instanceof sdk.ConflictError);
    assert.deepEqual([error.code, error.details[0].field], ["refund_exceeds_remaining", "amountMinor"]);
    return true;
  });
});

test("the second provider's component is declined, then paid", async () => {
  const { serviceReference } = await tollgate.payments.createComponent(LARGE);
  const declined = await tollgate.payments.confirm(serviceReference, { sourceId: "cnon:card-nonce-declined" });
  assert.equal(declined.transaction.status, "failed");
  assert.ok(declined.transaction.failure.message);
  const paid = await tollgate.payments.confirm(serviceReference, { sourceId: "cnon:card-nonce-ok" });
  assert.equal(paid.transaction.status, "succeeded");
});

test("what is authorized is captured in part, or voided", async () => {
  const hold = async () => {
    const { serviceReference } = await tollgate.payments.createComponent({ ...LARGE, capture: "manual" });
    const { transaction } = await tollgate.payments.confirm(serviceReference, { sourceId: "cnon:card-nonce-ok" });
    assert.equal(transaction.status, "authorized");
    return serviceReference;
  };
  const part = { idempotencyKey: randomUUID(), amountMinor: "100000" };
  const captured = await tollgate.transactions.capture(await hold(), part);
  assert.deepEqual([captured.transaction.status, captured.transaction.amountMinor], ["succeeded", "100000"]);
  const voided = await tollgate.transactions.void(await hold(), { idempotencyKey: randomUUID() });
  assert.equal(voided.transaction.status, "canceled");
});

test("a bank transfer is previewed, sent and replayed", async () => {
  const { customerToken } = await tollgate.customerTokens.create(CUSTOMER);
  const preview = await tollgate.transfers.preview(SMALL);
  assert.equal(preview.routing.channel, "standard_ach");
  const body = { ...TRANSFER, customerToken, idempotencyKey: `payout-${randomUUID()}` };
  const sent = await tollgate.transfers.create(body);
  assert.deepEqual([sent.transaction.status, sent.replayed, sent.bankAccount.last4], ["processing", false, "6789"]);
  const again = await tollgate.transfers.create(body);
  assert.deepEqual([again.transaction.serviceReference, again.replayed], [sent.transaction.serviceReference, true]);
  const refused = tollgate.transfers.create({ ...body, idempotencyKey: randomUUID(), routingNumber: "790000051" });
  await assert.rejects(refused, (error) => error instanceof sdk.RejectedError && /^ach_/.test(error.serviceReference));
  const [wallet] = (await tollgate.wallets.list()).items;
  assert.equal(wallet.currency, "USD");
  await assert.rejects(tollgate.transfers.cancel("ach_00000000000000000000000000"), sdk.NotFoundError);
});

test("a list is read page by page", async () => {
  const { items } = await tollgate.transactions.list({ limit: 100 });
  assert.ok(items.length >= 3, "the tests above have made some");
  const page = await tollgate.transactions.list({ limit: 1 });
  assert.deepEqual([page.items.length, page.items[0].serviceReference], [1, items[0].serviceReference]);
  const all = [];
  for await (const one of tollgate.transactions.listAll({ limit: 2, status: "succeeded" })) all.push(one.serviceReference);
  const expected = items.filter((one) => one.status === "succeeded").map((one) => one.serviceReference);
  assert.deepEqual(all, expected);
});

test("failures are typed and name every field", async () => {
  const wrong = tollgate.fees.quote({ amountMinor: "0", currency: "XXXX" });
  await assert.rejects(wrong, (error) => {
    assert.ok(error instanceof sdk.InvalidRequestError && error instanceof sdk.ApiError && error instanceof sdk.TollgateError);
    assert.deepEqual(error.details.map((one) => one.field), ["amountMinor", "currency"]);
    assert.match(error.requestId, /^req_/);
    assert.equal(error.docsUrl, `${notes.baseUrl}/docs/errors#invalid_body`);
    return true;
  });
  const stranger = new Tollgate({ baseUrl: notes.baseUrl, apiKey: `${notes.secretKey}x` });
  await assert.rejects(stranger.fees.quote(SMALL), sdk.AuthenticationError);
  const shopper = new Tollgate({ baseUrl: notes.baseUrl, apiKey: notes.publishableKey });
  await assert.rejects(shopper.fees.quote(SMALL), sdk.PermissionError);
  await assert.rejects(tollgate.transactions.retrieve("pay_00000000000000000000000000"), sdk.NotFoundError);
  await assert.rejects(tollgate.fees.quote({ ...SMALL, amountMinor: 2 ** 53 }), TypeError);
});

test("a client that is printed does not show its key", () => {
  assert.ok(!inspect(tollgate, { depth: 9, showHidden: true }).includes(notes.secretKey));
});

test("our own webhooks are verified, and nobody else's", async () => {
  const inbox = await receiver();
  const endpoint = await admin("POST", "/event-endpoints", { url: inbox.url, events: ["transaction.succeeded"] });
  try {
    const { serviceReference } = await tollgate.payments.createComponent(LARGE);
    await tollgate.payments.confirm(serviceReference, { sourceId: "cnon:card-nonce-ok" });
    const { body, headers } = await inbox.next(({ body }) => body.includes(serviceReference));
    const event = sdk.verifyWebhook(body, headers, endpoint.secret);
    assert.deepEqual([event.type, event.id], ["transaction.succeeded", headers["webhook-id"]]);
    assert.equal(event.data.transaction.serviceReference, serviceReference);
    assert.deepEqual(sdk.verifyWebhook(body.toString(), new Headers(headers), ["whsec_AAAA", endpoint.secret]), event);

    const refuses = (...parts) => assert.throws(() => sdk.verifyWebhook(...parts), sdk.WebhookVerificationError);
    refuses(Buffer.concat([body, Buffer.from(" ")]), headers, endpoint.secret);
    refuses(body, headers, "whsec_AAAA");
    refuses(body, { ...headers, "webhook-id": "evt_other" }, endpoint.secret);
    refuses(body, { ...headers, "webhook-signature": "" }, endpoint.secret);
    refuses(body, { ...headers, "webhook-signature": "v1," }, endpoint.secret);
    const later = (minutes) => ({ now: new Date(Date.now() + minutes * 60_000) });
    refuses(body, headers, endpoint.secret, later(6));
    refuses(body, headers, endpoint.secret, later(-6));
    assert.throws(() => sdk.verifyWebhook(JSON.parse(body), headers, endpoint.secret), TypeError);
    assert.throws(() => sdk.verifyWebhook(body, headers, "whsec_"), TypeError);
  } finally {
    await admin("DELETE", `/event-endpoints/${endpoint.id}`);
    inbox.close();
  }
});
