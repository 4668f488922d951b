// What customers do. The sandbox sends amounts below 1,000.00 to the first card provider, others to the second, and what asks for it
// to the third.

import assert from "node:assert/strict";

const GOOD = "4242424242424242";
const DECLINED = "4000000000000002";
const NO_FUNDS = "4000000000009995";
const ASKS_FIRST = "4000002500003155";
const MISTYPED = "4242424242424241";
const ASKS_FOR_A_PASSWORD = "5454545454545454";
const WIRES = {
  stripe: { amountMinor: "12500", shown: "129.56 USD" },
  square: { amountMinor: "125000", shown: "1,287.65 USD" },
  // 2.70 % and 20, and 0.40 %.
  adyen: { amountMinor: "12500", shown: "129.08 USD", metadata: { acquirer: "c" } },
};

// Prepares a hosted checkout and opens its page.
async function checkout(visit, wire, urls = true) {
  const { backend, shop } = visit;
  const { amountMinor, metadata, shown } = WIRES[wire];
  const back = urls ? { successUrl: `${shop.url}/thanks`, cancelUrl: `${shop.url}/back` } : {};
  const prepared = await backend.prepareHosted({ amountMinor, metadata, description: "Two paperbacks", ...back });
  assert.match(prepared.checkoutUrl, new RegExp(`/simulator/${wire}/`));
  await visit.open(prepared.checkoutUrl);
  const page = await visit.page.locator("body").innerText();
  for (const part of ["Demo shop", shown, "Two paperbacks", "Test cards"]) {
    assert.ok(page.includes(part), `${part} is not on the page: ${page}`);
  }
  assert.match(page, /simulator/i);
  return prepared.serviceReference;
}

// Opens the shop's page and waits for its component.
async function component(visit, wire) {
  const { page, shop } = visit;
  const acquirer = WIRES[wire].metadata?.acquirer ?? "";
  await visit.open(`${shop.url}/?adapter=${wire}&amount=${WIRES[wire].amountMinor}&acquirer=${acquirer}`);
  await page.getByLabel("Card number").waitFor();
  return shop.orders.at(-1);
}

// Nothing was paid: the preparation still stands and there is no transaction.
async function isOpen({ backend, checks }, reference) {
  const payment = await backend.payment(reference);
  assert.deepEqual([payment.status, payment.transaction], ["prepared", null]);
  assert.equal(await backend.status(reference), null);
  checks.push("still prepared, no transaction");
}

async function isPaid({ backend, checks }, reference) {
  await backend.reaches(reference, "succeeded");
  checks.push("succeeded");
}

// On a hosted page nobody confirms: the service learns of the payment from the provider.
async function isPaidByWebhook(visit, reference) {
  await isPaid(visit, reference);
  assert.ok(await visit.backend.isByWebhook(reference, "succeeded"), "no webhook told of the payment");
}

// The component's payment as its page sees it, then as the service does.
async function isThanked(visit, order) {
  await visit.page.getByRole("heading", { name: "Thank you" }).and(visit.page.locator(":focus")).waitFor();
  await visit.shoot("thanks");
  assert.equal(order.confirmed.at(-1), "succeeded");
  await isPaid(visit, order.reference);
}

// What customers do with either provider; the pages differ little, so that each is looked at closely once.
function casesOf(wire, { keys, paid }) {
  return [
    {
      name: `${wire} hosted paid`,
      ...paid,
      async run(visit) {
        const reference = await checkout(visit, wire);
        const url = visit.page.url();
        await visit.shoot("open");
        await visit.pay(GOOD);
        await visit.arrives(`${visit.shop.url}/thanks`);
        await isPaidByWebhook(visit, reference);
        // Who comes back is not asked to pay again.
        await visit.open(url);
        await visit.arrives(`${visit.shop.url}/thanks`);
      },
    },
    {
      name: `${wire} hosted declined then paid`,
      declines: true,
      async run(visit) {
        const reference = await checkout(visit, wire);
        if (wire === "stripe") await visit.inspect("open");
        await visit.pay(DECLINED);
        await visit.isTold("Your card was declined.");
        await visit.inspect("declined");
        await visit.backend.reaches(reference, "failed");
        await visit.pay(GOOD);
        await visit.arrives(`${visit.shop.url}/thanks`);
        await isPaidByWebhook(visit, reference);
      },
    },
    {
      name: `${wire} hosted mistyped, without funds, then paid`,
      declines: true,
      hand: "keys",
      async run(visit) {
        const reference = await checkout(visit, wire);
        await visit.pay(MISTYPED);
        await visit.isAskedToCorrect("Card number", /number/);
        if (wire === "stripe") await visit.inspect("mistyped");
        await isOpen(visit, reference);
        await visit.pay(NO_FUNDS);
        await visit.isTold("Your card has insufficient funds.");
        await visit.pay(GOOD);
        await visit.arrives(`${visit.shop.url}/thanks`);
        await isPaidByWebhook(visit, reference);
      },
    },
    {
      name: `${wire} hosted without addresses of the shop`,
      async run(visit) {
        const reference = await checkout(visit, wire, false);
        await visit.pay(GOOD);
        await visit.arrives(`${visit.backend.baseUrl}/checkout/paid`);
        if (wire === "stripe") await visit.inspect("paid page");
        await isPaidByWebhook(visit, reference);
        // The page looks again by itself.
        await visit.page.getByText("Paid", { exact: true }).waitFor();
        for (const text of ["Fee", reference]) assert.ok(await visit.page.getByText(text, { exact: true }).isVisible(), text);
      },
    },
    {
      name: `${wire} component paid with the keyboard`,
      hand: "keys",
      ...keys,
      async run(visit) {
        const order = await component(visit, wire);
        await visit.pay(GOOD);
        await isThanked(visit, order);
      },
    },
    {
      name: `${wire} component paid on a phone`,
      hand: "touch",
      phone: true,
      async run(visit) {
        const order = await component(visit, wire);
        await visit.shoot("open");
        await visit.pay(GOOD);
        await isThanked(visit, order);
      },
    },
    {
      name: `${wire} component mistyped, declined then paid in the dark`,
      declines: true,
      scheme: "dark",
      async run(visit) {
        const order = await component(visit, wire);
        if (wire === "stripe") await visit.inspect("open");
        await visit.pay(MISTYPED);
        await visit.isAskedToCorrect("Card number", /number is incorrect/);
        if (wire === "square") await visit.inspect("mistyped");
        await visit.pay(DECLINED);
        await visit.isTold(/declined/i);
        await visit.inspect("declined");
        await visit.backend.reaches(order.reference, "failed");
        await visit.pay(GOOD);
        await isThanked(visit, order);
      },
    },
  ];
}

// A script that has no business on the page is not run, and the operator learns of it. The payment goes on.
const skimmed = ["stripe", "square", "adyen"].map((wire) => ({
  name: `${wire} component with a skimmer's script`,
  skimmed: true,
  async run(visit) {
    const { backend, page } = visit;
    const order = await component(visit, wire);
    const origin = "http://127.0.0.1:9";
    await page.evaluate((src) => document.head.append(Object.assign(document.createElement("script"), { src })), `${origin}/skim.js`);
    await visit.pay(GOOD);
    await isThanked(visit, order);
    const deadline = Date.now() + 60_000;
    const reports = async () => (await backend.paymentPages()).find(({ adapter }) => adapter === wire).reports;
    while ((await reports()).length === 0 && Date.now() < deadline) await page.waitForTimeout(100);
    const told = (await reports()).map(({ blocked, count, directive }) => ({ blocked, count, directive }));
    assert.deepEqual(told, [{ blocked: origin, count: 1, directive: "script-src" }]);
    visit.checks.push("blocked and reported");
  },
}));

// What a customer does with the password that the bank asks for in the component.
async function answersTheBank(visit, password) {
  await visit.pay(ASKS_FOR_A_PASSWORD);
  const field = visit.page.getByLabel(/password/);
  await field.fill(password);
  await visit.press(visit.page.getByRole("button", { name: "Confirm" }));
}

const adyen = [
  {
    name: "adyen payment link paid on a phone",
    hand: "touch",
    phone: true,
    async run(visit) {
      const reference = await checkout(visit, "adyen");
      await visit.inspect("open");
      await visit.pay(GOOD);
      await visit.page.getByRole("heading", { name: "Thank you" }).waitFor();
      await isPaidByWebhook(visit, reference);
      // Its only way back is a button.
      await visit.press(visit.page.getByRole("link", { name: "Continue" }));
      await visit.arrives(`${visit.shop.url}/thanks`);
    },
  },
  {
    name: "adyen payment link declined then paid",
    declines: true,
    async run(visit) {
      const reference = await checkout(visit, "adyen");
      await visit.pay(DECLINED);
      await visit.isTold(/refused/i);
      await visit.backend.reaches(reference, "failed");
      await visit.pay(GOOD);
      await visit.page.getByRole("heading", { name: "Thank you" }).waitFor();
      await isPaidByWebhook(visit, reference);
    },
  },
  {
    name: "adyen component declined then paid",
    declines: true,
    async run(visit) {
      const order = await component(visit, "adyen");
      await visit.shoot("open");
      await visit.pay(DECLINED);
      await visit.isTold(/declined/i);
      await visit.backend.reaches(order.reference, "failed");
      await visit.pay(GOOD);
      await isThanked(visit, order);
    },
  },
  {
    name: "adyen component paid on a phone",
    hand: "touch",
    phone: true,
    async run(visit) {
      const order = await component(visit, "adyen");
      await visit.pay(GOOD);
      await isThanked(visit, order);
    },
  },
  {
    name: "adyen component with the bank's password, wrong and right",
    declines: true,
    async run(visit) {
      const order = await component(visit, "adyen");
      await answersTheBank(visit, "another");
      await visit.isTold(/declined/i);
      await answersTheBank(visit, "password");
      await isThanked(visit, order);
    },
  },
];

export const cases = [
  ...skimmed,
  ...adyen,
  ...casesOf("stripe", { paid: { hand: "touch", phone: true } }),
  ...casesOf("square", { paid: { scheme: "dark" }, keys: { scheme: "dark" } }),
  {
    name: "stripe hosted canceled",
    async run(visit) {
      const reference = await checkout(visit, "stripe");
      await visit.press(visit.page.getByRole("link", { name: "Cancel" }));
      await visit.arrives(`${visit.shop.url}/back`);
      await isOpen(visit, reference);
    },
  },
  {
    name: "stripe hosted canceled without addresses of the shop",
    hand: "keys",
    async run(visit) {
      const reference = await checkout(visit, "stripe", false);
      await visit.press(visit.page.getByRole("link", { name: "Cancel" }));
      await visit.arrives(`${visit.backend.baseUrl}/checkout/canceled`);
      await visit.inspect("canceled page");
      await isOpen(visit, reference);
    },
  },
  {
    // This wire's links take no address for it, so its page says so itself and leads back.
    name: "square hosted canceled",
    async run(visit) {
      const reference = await checkout(visit, "square");
      const url = visit.page.url();
      await visit.press(visit.page.getByRole("link", { name: "Cancel" }));
      await visit.arrives(`${url}/cancel`);
      await visit.page.getByRole("heading", { name: "Nothing was paid" }).waitFor();
      await visit.inspect("canceled page");
      await isOpen(visit, reference);
      await visit.press(visit.page.getByRole("link", { name: "Back to the checkout" }));
      await visit.arrives(url);
      await visit.pay(GOOD);
      await visit.arrives(`${visit.shop.url}/thanks`);
      await isPaidByWebhook(visit, reference);
    },
  },
  {
    name: "stripe hosted confirmed with the bank",
    declines: true,
    async run(visit) {
      const reference = await checkout(visit, "stripe");
      await visit.pay(ASKS_FIRST);
      await visit.page.getByRole("heading", { name: "Is this you?" }).waitFor();
      await visit.inspect("bank");
      await visit.press(visit.page.getByRole("button", { name: "Refuse" }));
      await visit.isTold("We are unable to authenticate your payment method.");
      await visit.pay(ASKS_FIRST);
      await visit.press(visit.page.getByRole("button", { name: "Confirm" }));
      await visit.arrives(`${visit.shop.url}/thanks`);
      await isPaidByWebhook(visit, reference);
    },
  },
  {
    name: "stripe component confirmed with the bank",
    async run(visit) {
      const order = await component(visit, "stripe");
      await visit.pay(ASKS_FIRST);
      await visit.press(visit.page.getByRole("button", { name: "Confirm" }));
      await isThanked(visit, order);
    },
  },
];
