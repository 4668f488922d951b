// The official Increase library for Node against the simulator: create, list, settle, return, webhooks.

import assert from "node:assert/strict";

import { Receiver, collect, library, simulator } from "./library.mjs";

const Increase = library("increase");
const SECRET = "shared secret of the sdk test";
const ACCOUNT = "account_simulator";
const SOURCE = "account_number_simulator";
const connection = { baseURL: simulator, webhookSecret: SECRET, maxRetries: 0 };

const client = new Increase({ apiKey: "increase_simulator_key", ...connection });
const receiver = await Receiver.of("increase", SECRET);
const push = {
  account_id: ACCOUNT,
  amount: 1999,
  statement_descriptor: "Payout 7",
  account_number: "000123456789",
  routing_number: "110000000",
  individual_name: "Ada Example",
  standard_entry_class_code: "prearranged_payments_and_deposit",
  preferred_effective_date: { settlement_schedule: "future_dated" },
};
const withKey = (idempotencyKey) => ({ idempotencyKey });

/** What the provider says as it refuses. */
async function refused(kind, call) {
  const error = await call.then(() => assert.fail("it was accepted"), (error) => error);
  assert.ok(error instanceof kind, String(error));
  return error.error;
}

async function setBalance(balance) {
  const path = `/control/increase/accounts/${ACCOUNT}/set_balance`;
  const set = await fetch(simulator + path, { method: "POST", body: JSON.stringify({ balance }) });
  assert.equal(set.status, 200);
}

const before = await client.accounts.balance(ACCOUNT);
assert.ok(before.available_balance > 0);

// One transfer per key.
const transfer = await client.achTransfers.create(push, withKey("sdk-1"));
assert.deepEqual([transfer.status, transfer.amount, transfer.currency], ["pending_submission", 1999, "USD"]);
const { data: again, response } = await client.achTransfers.create(push, withKey("sdk-1")).withResponse();
assert.equal(response.headers.get("idempotent-replayed"), "true");
assert.equal(again.id, transfer.id);
const other = client.achTransfers.create({ ...push, amount: 1 }, withKey("sdk-1"));
const reused = await refused(Increase.ConflictError, other);
assert.deepEqual([reused.type, reused.resource_id], ["idempotency_key_already_used_error", transfer.id]);
const found = await collect(client.achTransfers.list({ idempotency_key: "sdk-1" }));
assert.deepEqual(found.map((each) => each.id), [transfer.id]);

// What cannot be sent is refused: no such bank, no such object, no such key, not so much money.
const nowhere = client.achTransfers.create({ ...push, routing_number: "790000051" });
assert.equal((await refused(Increase.BadRequestError, nowhere)).type, "invalid_parameters_error");
await refused(Increase.NotFoundError, client.achTransfers.retrieve("ach_transfer_none"));
const stranger = new Increase({ apiKey: "other", ...connection });
await refused(Increase.AuthenticationError, stranger.achTransfers.list());
await setBalance(1998);
const poor = await refused(Increase.ConflictError, client.achTransfers.create(push, withKey("sdk-2")));
assert.equal(poor.type, "invalid_operation_error");
await setBalance(1_000_000);

// Sent, settled, corrected, and back again.
const simulations = client.simulations.achTransfers;
assert.equal((await simulations.submit(transfer.id)).status, "submitted");
assert.ok((await simulations.settle(transfer.id, {})).settlement.settled_at);
const corrected = await simulations.createNotificationOfChange(transfer.id, {
  corrected_account_number: "987654321",
});
assert.equal(corrected.notifications_of_change[0].change_code, "incorrect_account_number");
const returned = await simulations.return(transfer.id, { reason: "account_closed" });
assert.deepEqual([returned.status, returned.return.raw_return_reason_code], ["returned", "R02"]);

// Approval.
const waiting = await client.achTransfers.create({ ...push, require_approval: true });
assert.equal(waiting.status, "pending_approval");
assert.ok((await client.achTransfers.cancel(waiting.id)).cancellation.canceled_at);

// Real-time payments.
const instant = await client.realTimePaymentsTransfers.create(
  {
    source_account_number_id: SOURCE,
    amount: 2500,
    creditor_name: "Ada Example",
    unstructured_remittance_information: "Invoice 7",
    account_number: "000123456789",
    routing_number: "110000000",
  },
  withKey("instant-1"),
);
assert.equal((await client.simulations.realTimePaymentsTransfers.complete(instant.id, {})).status, "complete");

// The library accepts every delivery, and refuses one whose body was changed.
const deliveries = await receiver.take(9);
const events = deliveries.map(({ body, headers }) => client.events.unwrap(body, { headers }));
for (const { body, headers } of deliveries) {
  assert.throws(() => client.events.unwrap(`${body} `, { headers }), { name: "WebhookVerificationError" });
}
const told = events.filter((event) => event.associated_object_id === transfer.id);
assert.deepEqual(
  told.map((event) => event.category),
  ["ach_transfer.created", ...Array(4).fill("ach_transfer.updated")],
);
assert.equal((await client.events.retrieve(events[0].id)).associated_object_id, transfer.id);
console.log("ok");
