// What happens when the network, a gateway or Tollgate fails in between.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";

import { ConnectionError, OutcomeUnknownError, RateLimitError, ServiceError, Tollgate } from "@tollgate/sdk";

import { notes, proxy } from "./sandbox.mjs";

const QUOTE = { amountMinor: "12500", currency: "USD" };
const direct = new Tollgate({ baseUrl: notes.baseUrl, apiKey: notes.secretKey });

async function through(plan, run, options = {}) {
  const network = await proxy(plan);
  try {
    return await run(new Tollgate({ baseUrl: network.baseUrl, apiKey: notes.secretKey, ...options }), network.seen);
  } finally {
    network.close();
  }
}

const failure = (status, code, headers = {}) => ({
  status,
  headers,
  body: JSON.stringify({ success: false, data: null, message: "Not now.", error: { code, requestId: "req_1", details: [] } }),
});

test("a lost answer is asked for again with the same key, and makes one payment", () =>
  through(["lose", "drop", "pass"], async (tollgate, seen) => {
    const description = `lost ${randomUUID()}`;
    const prepared = await tollgate.payments.createCheckout({ ...QUOTE, description });
    assert.equal(seen.length, 3);
    assert.match(seen[0].key, /^sdk-/);
    assert.deepEqual(new Set(seen.map((one) => one.key)).size, 1);
    // The sandbox had made it at the first try: the same key finds the same payment.
    const again = await direct.payments.createCheckout({ ...QUOTE, description }, { idempotencyKey: seen[0].key });
    assert.equal(again.serviceReference, prepared.serviceReference);
  }));

test("a lost answer to a confirmation charges once", () =>
  through(["pass", "lose", "pass"], async (tollgate) => {
    const { serviceReference } = await tollgate.payments.createComponent({ ...QUOTE, amountMinor: "125000" });
    const { transaction, replayed } = await tollgate.payments.confirm(serviceReference, { sourceId: "cnon:card-nonce-ok" });
    assert.deepEqual([transaction.status, replayed], ["succeeded", true]);
  }));

test("what may have happened is said to be unknown, with the key to ask again", () =>
  through(["lose", "lose", "lose"], async (tollgate, seen) => {
    await assert.rejects(tollgate.payments.createCheckout(QUOTE), (error) => {
      assert.ok(error instanceof OutcomeUnknownError);
      assert.equal(error.idempotencyKey, seen[0].key);
      return true;
    });
    assert.equal(seen.length, 3);
    const found = await direct.payments.createCheckout(QUOTE, { idempotencyKey: seen[0].key });
    assert.equal(found.status, "prepared");
  }));

test("a read that fails is just that", () =>
  through(["drop"], async (tollgate) => {
    await assert.rejects(tollgate.fees.quote(QUOTE), ConnectionError);
  }, { maxRetries: 0 }));

test("a server that does not answer is given up on in time", () =>
  through(["stall", "stall"], async (tollgate, seen) => {
    const started = Date.now();
    await assert.rejects(tollgate.fees.quote(QUOTE), /in time/);
    assert.equal(seen.length, 2);
    assert.ok(Date.now() - started < 30000);
  }, { timeoutMs: 200, maxRetries: 1 }));

test("a gateway's error and ours are tried again", () =>
  through([{ status: 502, body: "<h1>Bad gateway</h1>" }, failure(503, "store_unavailable", { "retry-after": "1" }), "pass"], async (tollgate, seen) => {
    const started = Date.now();
    assert.equal((await tollgate.fees.quote(QUOTE)).totalDebitMinor, "12956");
    assert.equal(seen.length, 3);
    assert.ok(Date.now() - started >= 1000, "Retry-After is respected");
  }));

test("what another try cannot cure is not tried again", async () => {
  await through([failure(503, "provider_not_configured")], async (tollgate, seen) => {
    await assert.rejects(tollgate.fees.quote(QUOTE), (error) => error instanceof ServiceError && error.code === "provider_not_configured");
    assert.equal(seen.length, 1);
  });
  await through([failure(429, "rate_limited", { "retry-after": "60" })], async (tollgate, seen) => {
    await assert.rejects(tollgate.fees.quote(QUOTE), (error) => error instanceof RateLimitError && error.retryAfterSeconds === 60);
    assert.equal(seen.length, 1);
  });
  await through([failure(503, "outcome_unknown")], async (tollgate) => {
    await assert.rejects(tollgate.payments.createCheckout(QUOTE), OutcomeUnknownError);
  }, { maxRetries: 0 });
});

test("a key goes nowhere else", () =>
  through([{ status: 307, headers: { location: notes.baseUrl } }], async (tollgate, seen) => {
    await assert.rejects(tollgate.fees.quote(QUOTE), /status 307/);
    assert.equal(seen.length, 1);
  }));

test("the caller can end a call", () =>
  through(["stall"], async (tollgate) => {
    const call = tollgate.fees.quote(QUOTE, { signal: AbortSignal.timeout(50) });
    await assert.rejects(call, (error) => error.name === "TimeoutError");
  }));

test("a field with a typo is pointed out", async () => {
  const warned = new Promise((resolve) => process.once("warning", resolve));
  await direct.fees.quote({ ...QUOTE, metdata: {} });
  const warning = await warned;
  assert.equal(warning.name, "TollgateWarning");
  assert.match(warning.message, /metdata/);
});
