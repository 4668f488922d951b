// The official Modern Treasury library for Node against the simulator: create, list, return, reverse, webhooks.

import assert from "node:assert/strict";

import { Receiver, collect, library, simulator } from "./library.mjs";

const ModernTreasury = library("modern-treasury");
const SECRET = "webhook key of the sdk test";
const ACCOUNT = "0f7a61a2-5d30-4c3c-9f5e-6a1f0a6f5a01";

const clientWith = (apiKey) =>
  new ModernTreasury({
    organizationID: "organization_simulator",
    apiKey,
    baseURL: simulator,
    webhookKey: SECRET,
    maxRetries: 0,
  });
const client = clientWith("modern_treasury_simulator_key");
const receiver = await Receiver.of("modern_treasury", SECRET);
const withKey = (idempotencyKey) => ({ idempotencyKey });

const order = (external_id) => ({
  type: "ach",
  amount: 1999,
  currency: "USD",
  direction: "credit",
  originating_account_id: ACCOUNT,
  subtype: "PPD",
  statement_descriptor: "Payout 7",
  external_id,
  receiving_account: {
    party_name: "Ada Example",
    party_type: "individual",
    account_type: "checking",
    account_details: [{ account_number: "000123456789" }],
    routing_details: [{ routing_number: "110000000", routing_number_type: "aba" }],
  },
});

/** What the provider says as it refuses. */
async function refused(kind, call) {
  const error = await call.then(() => assert.fail("it was accepted"), (error) => error);
  assert.ok(error instanceof kind, String(error));
  return error.error.errors;
}

async function drive(made, action) {
  const url = `${simulator}/control/modern_treasury/payment_orders/${made.id}/${action}`;
  assert.equal((await fetch(url, { method: "POST", body: "{}" })).status, 200, action);
}

// Look around before sending.
assert.equal((await client.ping()).ping, "pong");
assert.equal((await client.internalAccounts.retrieve(ACCOUNT)).currency, "USD");
await refused(ModernTreasury.AuthenticationError, clientWith("other").ping());

// The answer to a key is repeated, whatever is asked under it; nobody gets the same external_id twice.
const made = await client.paymentOrders.create(order("sdk-1"), withKey("key-1"));
assert.deepEqual([made.status, made.amount, made.external_id], ["approved", 1999, "sdk-1"]);
const again = await client.paymentOrders.create({ ...order("sdk-other"), amount: 1 }, withKey("key-1"));
assert.deepEqual([again.id, again.amount], [made.id, 1999]);
const taken = client.paymentOrders.create(order("sdk-1"), withKey("key-2"));
assert.equal((await refused(ModernTreasury.UnprocessableEntityError, taken)).parameter, "external_id");
const found = await collect(client.paymentOrders.list({ external_id: "sdk-1" }));
assert.deepEqual(found.map((each) => each.id), [made.id]);
await refused(ModernTreasury.NotFoundError, client.paymentOrders.retrieve(ACCOUNT));

// Sent, acknowledged, completed, and back again.
for (const [action, status] of [
  ["send", "sent"],
  ["acknowledge", "sent"],
  ["complete", "completed"],
  ["return", "returned"],
]) {
  await drive(made, action);
  assert.equal((await client.paymentOrders.retrieve(made.id)).status, status, action);
}
const returns = await collect(client.returns.list({ returnable_id: made.id, returnable_type: "payment_order" }));
assert.deepEqual(returns.map((each) => each.code), ["R03"]);

// A reversal says nothing about the money before it is completed.
const reversible = await client.paymentOrders.create(order("sdk-2"));
await drive(reversible, "complete");
const reversal = await client.paymentOrders.reversals.create(reversible.id, { reason: "duplicate" });
assert.equal(reversal.status, "pending");
await drive(reversible, "complete_reversal");
const reversals = await collect(client.paymentOrders.reversals.list(reversible.id));
assert.deepEqual(reversals.map((each) => each.status), ["completed"]);

// Approval.
const waiting = await client.paymentOrders.create(order("sdk-3"));
await drive(waiting, "require_approval");
assert.equal((await client.paymentOrders.update(waiting.id, { status: "cancelled" })).status, "cancelled");

// The library accepts every delivery, and refuses one whose body was changed.
const ofFirst = (all) => all.filter(({ body }) => JSON.parse(body).data.external_id === "sdk-1");
const deliveries = await receiver.until((all) => ofFirst(all).length === 6);
for (const { body, headers } of deliveries) {
  assert.ok(client.webhooks.validateSignature(body, headers));
  assert.ok(!client.webhooks.validateSignature(`${body} `, headers));
}
const events = ofFirst(deliveries).map(({ body }) => JSON.parse(body).event);
const expected = ["created", "begin_processing", "finish_processing", "acknowledged", "completed", "returned"];
assert.deepEqual(events.toSorted(), expected.toSorted());
console.log("ok");
