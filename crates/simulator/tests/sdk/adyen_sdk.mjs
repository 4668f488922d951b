// The official Adyen library on what the simulator sends: it accepts every signature, and no notification that was changed
// in what is signed. It is no client here: it calls Adyen whatever address it is given.

import assert from "node:assert/strict";
import { Receiver, library, simulator } from "./library.mjs";

const { hmacValidator } = library("@adyen/api-library");
const MERCHANT = "TollgateTestECOM";
const KEY = "0123456789ABCDEF".repeat(4);
const receiver = await Receiver.of("adyen", KEY);
const validator = new hmacValidator();

async function call(path, body) {
  const headers = { "X-API-Key": "adyen_simulator_key", "Content-Type": "application/json" };
  const answer = await fetch(`${simulator}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  assert.ok(answer.ok, `${path} ${answer.status}`);
  return answer.json();
}

async function drive(path, body = {}) {
  const answer = await fetch(`${simulator}/control/adyen/${path}`, { method: "POST", body: JSON.stringify(body) });
  assert.ok(answer.ok, `${path} ${answer.status}`);
  return answer.json();
}

const amount = (value) => ({ value, currency: "EUR" });
const session = await call("/v72/sessions", {
  merchantAccount: MERCHANT, amount: amount(1999), reference: "a:b\\c/ü", returnUrl: "https://shop.example.test/",
  captureDelayHours: 0,
});
await drive(`sessions/${session.id}/pay`, { number: "4000000000000002" });
const paid = await drive(`sessions/${session.id}/pay`);
await call(`/v72/payments/${paid.id}/refunds`, { merchantAccount: MERCHANT, amount: amount(500), reference: "re:1" });
const dispute = await drive(`payments/${paid.id}/dispute`);
await drive(`disputes/${dispute.id}/close`, { status: "won" });

const deliveries = await receiver.take(7);
const items = deliveries.map(({ body }) => JSON.parse(body).notificationItems[0].NotificationRequestItem);
assert.deepEqual(items.map((item) => item.eventCode), ["AUTHORISATION", "AUTHORISATION", "REFUND",
  "NOTIFICATION_OF_CHARGEBACK", "CHARGEBACK", "CHARGEBACK_REVERSED", "ISSUER_RESPONSE_TIMEFRAME_EXPIRED"]);
for (const item of items) {
  assert.ok(validator.validateHMAC(item, KEY), item.eventCode);
  assert.ok(!validator.validateHMAC({ ...item, success: item.success === "true" ? "false" : "true" }, KEY));
  assert.ok(!validator.validateHMAC(item, "00".repeat(32)));
  // Nothing beside the eight fields is signed.
  assert.ok(validator.validateHMAC({ ...item, reason: "changed", eventDate: "2030-01-01T00:00:00+01:00" }, KEY));
}
console.log("ok");
