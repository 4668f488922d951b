// The card fields, with just enough of a browser and of the provider's script around them.

import assert from "node:assert/strict";
import { test } from "node:test";

/** What `Stripe(…)` was called with. */
const called = [];

globalThis.HTMLElement = class {};
globalThis.location = { href: "https://shop.example/pay" };
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

const { Stripe } = window;

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

/** A script of the provider's that makes tokens. */
function provider(asked, paymentIntent) {
  return {
    elements(options) {
      asked.push(["elements", options]);
      return { create: () => ({ mount() {}, destroy() {} }), submit: async () => ({}) };
    },
    async createConfirmationToken({ params }) {
      asked.push(["token", params.payment_method_data.billing_details.address]);
      return { confirmationToken: { id: `ctoken_${asked.length}` } };
    },
    async handleNextAction({ clientSecret }) {
      asked.push(["next", clientSecret]);
      return { paymentIntent };
    },
  };
}

const decided = { ...component, paymentMethods: ["card"] };
const contact = { billingContact: { countryCode: "US", state: "GA" } };

test("a fee that the card decides is shown and agreed to before it is charged", async () => {
  const asked = [];
  window.Stripe = () => provider(asked);
  const card = await mount(new HTMLElement(), { component: decided }, contact);
  const steps = {
    async show(token, changed) {
      asked.push(["show", token, changed?.totalDebitMinor]);
      return changed ? changed.totalDebitMinor : "1030";
    },
    async pay(confirmation) {
      asked.push(["pay", confirmation]);
      const isNew = confirmation.acceptedTotalDebitMinor === "1020";
      return isNew
        ? { transaction: { status: "succeeded" } }
        : { code: "fee_changed", feeDecision: {}, totalDebitMinor: "1020" };
    },
  };
  assert.deepEqual(await card.pay(steps), { transaction: { status: "succeeded" } });
  const agreed = (acceptedTotalDebitMinor) => ["pay", { confirmationToken: "ctoken_2", acceptedTotalDebitMinor }];
  assert.deepEqual(asked, [
    ["elements", { mode: "payment", amount: 1000, currency: "usd", paymentMethodTypes: ["card"] }],
    ["token", { country: "US", state: "GA" }],
    ["show", "ctoken_2", undefined],
    agreed("1030"),
    ["show", "ctoken_2", "1020"],
    agreed("1020"),
  ]);
});

test("a customer who goes back pays nothing, and a bank that asks first is asked", async () => {
  const asked = [];
  window.Stripe = () => provider(asked, { status: "succeeded" });
  const card = await mount(new HTMLElement(), { component: decided });
  const none = async () => assert.fail("nothing is to be paid");
  assert.equal(await card.pay({ show: async () => null, pay: none }), null);
  const confirmations = [];
  const paid = await card.pay({
    show: async () => "1000",
    async pay(confirmation) {
      confirmations.push(confirmation);
      return { transaction: { status: confirmations.length === 1 ? "pending" : "succeeded" } };
    },
  });
  assert.equal(paid.transaction.status, "succeeded");
  assert.deepEqual(confirmations[1], { paymentIntentId: "pi_1", clientStatus: "succeeded" });
  assert.deepEqual(asked.at(-1), ["next", "pi_1_secret_1"]);
});

test("a card whose fee is known is paid in one step", async () => {
  const element = { mount() {}, destroy() {} };
  const confirmPayment = async () => ({ paymentIntent: { status: "succeeded" } });
  window.Stripe = () => ({ elements: () => ({ create: () => element }), confirmPayment });
  const card = await mount(new HTMLElement(), { component });
  const show = async () => assert.fail("there is nothing to show");
  const confirmation = await card.pay({ show, pay: async (body) => body });
  assert.deepEqual(confirmation, { paymentIntentId: "pi_1", clientStatus: "succeeded" });
});

test("the account that an intent belongs to is passed to the provider's script", async () => {
  window.Stripe = Stripe;
  await mount(new HTMLElement(), { component: { ...component, account: "acct_1" } });
  await mount(new HTMLElement(), { component });
  assert.deepEqual(called, [
    ["pk_1", { stripeAccount: "acct_1" }],
    ["pk_1", {}],
  ]);
});
