// A fee that the card decides, on the playground's page in a real browser: shown before it is paid, and only on credit cards.

import assert from "node:assert/strict";
import { PHONE, browser, inspect, notes, picture, shoot } from "./case_runner.mjs";

const CREDIT = "4242424242424242";
const DEBIT = "4000056655665556";
const environment = `${notes.baseUrl}/admin/v1/environments/${notes.environmentId}`;
const headers = { authorization: `Bearer ${notes.adminToken}`, "content-type": "application/json" };

async function api(method, url, body, credential = headers) {
  const answer = await fetch(url, { method, headers: credential, body: body && JSON.stringify(body) });
  const { data, message } = await answer.json();
  assert.ok(answer.ok, `${method} ${url}: ${answer.status} ${message}`);
  return data;
}

// 125.00 in Georgia, where cards cost 2.9 % and 0.30: Visa lets 3 % of it be charged, which is 3.75.
async function configure() {
  const document = await api("GET", `${environment}/config`);
  for (const fee of document.fees.filter((fee) => fee.paymentMethod === "web_card")) {
    for (const layer of [fee.platform, fee.organization].filter(Boolean)) layer.feeKind = "surcharge";
  }
  const cost = { percentBps: 290, fixedMinor: "30" };
  document.settings = {
    ...document.settings,
    feeProgram: {
      merchant: { country: "US", state: "GA", mcc: "5999" },
      acceptedBrands: ["visa", "mastercard", "discover"],
      cost: { card_provider_a: cost, card_provider_b: cost },
      noticeGivenOn: "2026-06-01",
      entryNoticeAttested: true,
      amexParityConfirmed: true,
    },
  };
  await api("PUT", `${environment}/config`, document);
}

async function prepare(page, state) {
  await page.goto(`${notes.baseUrl}/playground`);
  await page.getByRole("tab", { name: "Embedded component" }).click();
  await page.getByLabel("Payer's US state").fill(state);
  await page.getByRole("button", { name: "Prepare" }).click();
}

async function enter(page, card) {
  await page.getByLabel("Card number").fill(card);
  await page.getByLabel("Expiry").fill("1234");
  await page.getByLabel("Security code").fill("123");
  await page.locator("form.pay").getByRole("button", { name: /^Pay/ }).click();
}

const shown = (page) => page.locator("#fee p").textContent();
const succeeded = (page) => page.locator("#outcome").filter({ hasText: "succeeded" }).waitFor();

// The payment that the page shows, as the API has it.
async function story(page) {
  const link = await page.locator("#stage a").getAttribute("href");
  return api("GET", `${environment}/payments/${link.split("/").at(-1)}`);
}

const paid = (page) => story(page).then(({ transaction }) => transaction);
const consents = ({ timeline }) => timeline.filter(({ kind }) => kind === "consent").map(({ detail }) => detail);

// The receipt, as the payer reads it.
async function receipt(page, { timeline }) {
  await page.goto(timeline.map(({ detail }) => detail.successUrl).find(Boolean));
  const [names, values] = await Promise.all(["dt", "dd"].map((tag) => page.locator(tag).allTextContents()));
  return Object.fromEntries(names.map((name, place) => [name, values[place]]));
}

const CASES = {
  async "a credit card is shown 3.75 and pays it; the receipt says so, and a partial refund gives its share back"(page) {
    await prepare(page, "GA");
    // Before a card is entered: what it can come to.
    assert.match(await page.locator("#notice").textContent(), /A surcharge of up to 3\.92 USD applies to credit cards/);
    await enter(page, CREDIT);
    assert.match(await shown(page), /Credit card surcharge 3\.75 USD, total 128\.75 USD/);
    await shoot(page, "credit");
    await page.locator("#agree").click();
    await succeeded(page);
    const payment = await story(page);
    const { transaction } = payment;
    assert.deepEqual([transaction.feeMinor, transaction.totalDebitMinor], ["375", "12875"]);
    const [consent] = consents(payment);
    assert.deepEqual([consent.feeMinor, consent.totalDebitMinor], ["375", "12875"]);
    assert.match(consent.text, /Credit card surcharge 3\.75 USD/);
    const said = await receipt(page, payment);
    assert.equal(said["Credit card surcharge"], "3.75 USD");
    assert.deepEqual([said.Amount, said.Total, said.Refunded], ["125.00 USD", "128.75 USD", undefined]);
    await shoot(page, "receipt");
    const refunds = `${notes.baseUrl}/client/v1/transactions/${transaction.serviceReference}/refunds`;
    const secret = { ...headers, authorization: `Bearer ${notes.secretKey}` };
    const { refund } = await api("POST", refunds, { idempotencyKey: "half-of-it-all", amountMinor: "6250" }, secret);
    assert.deepEqual([refund.feeMinor, refund.totalRefundMinor], ["188", "6438"]);
    assert.equal((await receipt(page, payment)).Refunded, "64.38 USD");
  },

  async "a debit card is shown none and pays none"(page) {
    await prepare(page, "GA");
    await enter(page, DEBIT);
    assert.match(await shown(page), /No surcharge/);
    await page.locator("#agree").click();
    await succeeded(page);
    const payment = await story(page);
    assert.deepEqual([payment.transaction.feeMinor, payment.transaction.totalDebitMinor], ["0", "12500"]);
    const said = await receipt(page, payment);
    assert.deepEqual([said.Total, said["Credit card surcharge"]], ["125.00 USD", undefined]);
  },

  async "going back and changing the card changes the fee"(page) {
    await prepare(page, "GA");
    await enter(page, CREDIT);
    assert.match(await shown(page), /3\.75 USD/);
    await page.locator("#back").click();
    await enter(page, DEBIT);
    assert.match(await shown(page), /No surcharge/);
    await page.locator("#back").click();
    await enter(page, CREDIT);
    assert.match(await shown(page), /3\.75 USD/);
    await page.locator("#back").click();
    await enter(page, DEBIT);
    await page.locator("#agree").click();
    await succeeded(page);
    assert.equal((await paid(page)).totalDebitMinor, "12500");
  },

  async "a payer in Connecticut never pays"(page) {
    await prepare(page, "CT");
    assert.match(await page.locator("#notice").textContent(), /^No surcharge/);
    await enter(page, CREDIT);
    assert.match(await shown(page), /No surcharge/);
    await page.locator("#agree").click();
    await succeeded(page);
    assert.equal((await paid(page)).totalDebitMinor, "12500");
  },

  async "a payer in Colorado reads the sentence that the law prescribes, before and at the fee of 2 %"(page) {
    await prepare(page, "CO");
    const sentence = /pursuant to section 5-2-212, Colorado Revised Statutes/;
    assert.match(await page.locator("#notice").textContent(), sentence);
    await enter(page, CREDIT);
    assert.match(await shown(page), /Credit card surcharge 2\.50 USD, total 127\.50 USD/);
    assert.match(await shown(page), sentence);
    await shoot(page, "colorado");
    await page.locator("#agree").click();
    await succeeded(page);
    assert.match(consents(await story(page))[0].text, sentence);
  },

  async "the console's pages of card fees fit every window, in light and dark"(page) {
    await page.goto(`${notes.baseUrl}/console/sign-in`);
    await page.getByLabel("Admin token").fill(notes.adminToken);
    await page.getByLabel("Your name").fill("Grace");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    const found = [];
    for (const [window, viewport] of Object.entries({ desk: { width: 1440, height: 900 }, phone: PHONE.viewport })) {
      await page.setViewportSize(viewport);
      for (const name of ["fees", "fees/program", "fee-report"]) {
        const response = await page.goto(`${notes.baseUrl}/console/${notes.environmentId}/${name}`);
        assert.equal(response.status(), 200, name);
        found.push(...(await inspect(page, `${name} ${window}`)));
      }
    }
    assert.deepEqual(found, []);
  },
};

await configure();
let failed = 0;
for (const [name, run] of Object.entries(CASES)) {
  const started = Date.now();
  const context = await browser.newContext();
  context.setDefaultTimeout(45_000);
  const page = await context.newPage();
  let error = null;
  try {
    await run(page);
  } catch (caught) {
    error = String(caught?.stack ?? caught);
    failed += 1;
    await picture(page, `failed ${name}`).catch(() => {});
  }
  await context.close();
  console.log(JSON.stringify({ case: name, passed: !error, error, ms: Date.now() - started }));
}
console.log(JSON.stringify({ cases: Object.keys(CASES).length, failed }));
process.exit(0);
