// The card fields, with just enough of a browser and of the provider's script around them.

import assert from "node:assert/strict";
import { test } from "node:test";

/** What `Stripe(…)` was called with. */
const called = [];

globalThis.HTMLElement = class {};
globalThis.window = {
  Stripe(...args) {
    called.push(args);
    const element = { mount() {}, destroy() {} };
    return { elements: () => ({ create: () => element }) };
  },
};
globalThis.document = {
  createElement: () => ({}),
  head: { append: (script) => setTimeout(() => script.onload()) },
};

const { mount } = await import("@tollgate/sdk/browser");

const component = {
  type: "card_provider_a_payment_element",
  publishableKey: "pk_1",
  clientSecret: "pi_1_secret_1",
  paymentIntentId: "pi_1",
  scriptUrl: "https://js.example/stripe.js",
  amountMinor: "1000",
  amount: "10.00",
  currency: "USD",
};

test("the account that an intent belongs to is passed to the provider's script", async () => {
  await mount(new HTMLElement(), { component: { ...component, account: "acct_1" } });
  await mount(new HTMLElement(), { component });
  assert.deepEqual(called, [
    ["pk_1", { stripeAccount: "acct_1" }],
    ["pk_1", {}],
  ]);
});
