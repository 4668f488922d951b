// What an operator does in the console, and a newcomer in the playground, in a real browser. Prints one line of JSON for
// every case. The variables are those of `run.mjs`.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Backend } from "./backend.mjs";

const CASE_MS_MAX = 240_000;
const WINDOWS = {
  desktop: { viewport: { width: 1280, height: 900 } },
  phone: { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true },
};

const { CHROMIUM, MODULES, SCREENSHOTS, TOLLGATE_NOTES } = process.env;
const require = createRequire(join(MODULES, "package.json"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

process.stdin.on("end", () => process.exit(1)).resume();
mkdirSync(SCREENSHOTS, { recursive: true });

const notes = JSON.parse(readFileSync(TOLLGATE_NOTES, "utf8"));
const backend = new Backend(notes);
const base = `${notes.baseUrl}/console/${notes.environmentId}`;
const faults = [];

const browser = await chromium.launch({
  executablePath: CHROMIUM,
  args: ["--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"],
});

// A window that hears of every mistake, and asks no other host for anything.
async function open(options = WINDOWS.desktop) {
  const context = await browser.newContext({ ...options, reducedMotion: "reduce" });
  context.setDefaultTimeout(45_000);
  await context.route("**/*", (route) => {
    const url = new URL(route.request().url());
    if (url.hostname === "127.0.0.1" || url.protocol === "data:") return route.continue();
    faults.push(`a request to another host: ${url}`);
    return route.abort();
  });
  context.on("console", (message) => {
    if (!["error", "warning"].includes(message.type())) return;
    if (/status of (400|401|402|404|422|429)/.test(message.text())) return;
    faults.push(`in the console: ${message.text()} (${message.location().url})`);
  });
  context.on("weberror", (error) => faults.push(`an error in the page: ${error.error()}`));
  return context.newPage();
}

async function signIn(page, name = "Grace") {
  await page.goto(`${notes.baseUrl}/console`);
  await page.getByLabel("Admin token").fill(notes.adminToken);
  await page.getByLabel("Your name").fill(name);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Overview" }).waitFor();
}

// A key that is pressed before the page's script listens is lost, as it is for a person.
async function openPalette(page, key) {
  for (let tries = 0; tries < 20; tries++) {
    await page.keyboard.press(key);
    const field = page.getByRole("combobox");
    if (await field.waitFor({ timeout: 1_000 }).then(() => true, () => false)) return;
  }
  assert.fail(`${key} opens no palette`);
}

const shoot = (page, what) =>
  page.screenshot({ path: join(SCREENSHOTS, `${what.replace(/[^a-z0-9]+/gi, "-")}.png`), fullPage: true });

// A card payment through the second provider, which takes the card without a browser.
async function pay({ amountMinor = "125000", sourceId = "cnon:card-nonce-ok", ...rest } = {}) {
  const prepared = await backend.prepareComponent({ amountMinor, ...rest });
  await backend.confirm(prepared.serviceReference, { sourceId });
  return prepared.serviceReference;
}

const quoted = (amountMinor) => backend.data(200, "POST", "/client/v1/fees/quote", { amountMinor, currency: "USD" });

// Runs in the page: what axe finds wrong, by all of its rules or some.
async function judge(rules) {
  const { violations } = await window.axe.run(document, rules ? { runOnly: rules } : {});
  return violations.map(({ help, id, nodes }) => `${id}: ${help}: ${nodes.slice(0, 3).map((node) => node.html).join(" | ")}`);
}

const cases = {
  async "nobody gets in without the token"() {
    const page = await open();
    await page.goto(`${base}/payments?q=x`);
    assert.match(page.url(), /\/console\/sign-in\?next=/);
    await page.getByLabel("Admin token").fill("not the admin token");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").filter({ hasText: "not the admin token of this server" }).waitFor();
    await page.getByLabel("Admin token").fill(notes.adminToken);
    await page.keyboard.press("Enter");
    // And where one wanted to go.
    await page.waitForURL(`${base}/payments?q=x`);
    const [cookie] = await page.context().cookies();
    assert.deepEqual([cookie.httpOnly, cookie.sameSite, cookie.path], [true, "Strict", "/console"]);
    // A form without its session's mark, or from elsewhere, changes nothing.
    const forged = await page.request.post(`${base}/keys`, { form: { do: "issue", kind: "secret" } });
    assert.equal(forged.status(), 400);
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.goto(`${base}/keys`);
    assert.match(page.url(), /sign-in/);
    // Guessing is slow.
    const guesses = await Promise.all(Array.from({ length: 30 }, (_, guess) =>
      page.request.post(`${notes.baseUrl}/console/sign-in`, { form: { token: `guess ${guess} of many` } })));
    const refused = guesses.find((answer) => answer.status() === 429);
    assert.ok(refused, `30 guesses: ${guesses.map((answer) => answer.status())}`);
    assert.ok(Number(refused.headers()["retry-after"]) > 0);
    // Whoever has the token is let in all the same.
    await signIn(page);
    return page;
  },

  async "a payment is found by its reference and tells why it went where it went"() {
    const reference = await pay({ description: "Order 4711", customer: { name: "Ada Lovelace", email: "ada@example.com" }, metadata: { orderId: "A-4711" } });
    const page = await open();
    await signIn(page);
    await openPalette(page, "/");
    await page.keyboard.type(reference);
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: reference }).click();
    await page.locator("#decision").filter({ hasText: "card_provider_b, web_card (rule rule_large)" }).waitFor();
    // What happened comes first, how on request.
    assert.equal(await page.getByText("payments.create").first().isVisible(), false);
    assert.match(await page.getByRole("heading", { level: 1 }).innerText(), /^1,250\.00 USD\s+succeeded$/);
    await page.getByLabel("Technical details").check();
    const text = await page.locator("main").innerText();
    for (const part of ["succeeded", "1,250.00 USD", "1,287.65 USD", "amountMinor gte 100000", "actual: 125000", "32.65 USD",
      "Ada Lovelace", "Order 4711", "A-4711", "payments.create", "transaction.succeeded", "Webhook"]) {
      assert.ok(text.includes(part), `${part} is not on the page:\n${text}`);
    }
    // Also by what else is known of it, a moment later.
    for (const asked of ["ada@example.com", "lovelace", "orderId=A-4711", "a-4711", "1250.00"]) {
      const deadline = Date.now() + 60_000;
      for (;;) {
        await page.goto(`${base}/payments?q=${encodeURIComponent(asked)}`);
        if (await page.getByRole("link", { name: reference }).count()) break;
        assert.ok(Date.now() < deadline, `${asked} does not find ${reference}`);
      }
    }
    await page.goto(`${base}/payments?q=nothing+like+it`);
    await page.getByText("No results.").waitFor();
    // The list as a table for a spreadsheet.
    const table = await page.request.get(`${base}/payments.csv?status=succeeded`);
    assert.match(table.headers()["content-type"], /text\/csv/);
    assert.ok((await table.text()).includes(`${reference},`));
    // One that nobody has paid is listed, searched and exported by its preparation, and a paid one is not.
    const { serviceReference: unpaid } = await backend.prepareComponent({ amountMinor: "125000", metadata: { orderId: "A-4711" } });
    const listed = async (query) => {
      await page.goto(`${base}/payments?${query}`);
      const rows = await page.getByRole("table").allInnerTexts();
      const lines = await (await page.request.get(`${base}/payments.csv?${query}`)).text();
      return [unpaid, reference].map((one) => [rows.join().includes(one), lines.includes(one)]);
    };
    const [yes, no] = [[true, true], [false, false]];
    assert.deepEqual(await listed("status=prepared"), [yes, no]);
    assert.deepEqual(await listed("status=prepared&provider=card_provider_b&method=web_card&from=2026-01-01"), [yes, no]);
    for (const other of ["provider=card_provider_a", "method=ach", "until=2026-01-01"]) {
      assert.deepEqual(await listed(`status=prepared&${other}`), [no, no]);
    }
    assert.deepEqual(await listed("provider=card_provider_b&status=succeeded&method=web_card"), [no, yes]);
    assert.deepEqual(await listed("provider=card_provider_a"), [no, no]);
    const deadline = Date.now() + 60_000;
    while (!(await listed("q=a-4711&status=prepared"))[0][0]) assert.ok(Date.now() < deadline, "the unpaid one is not found");
    assert.deepEqual(await listed("q=a-4711&status=prepared"), [yes, no]);
    assert.deepEqual(await listed("q=a-4711&status=succeeded&from=2026-01-01"), [no, yes]);
    assert.deepEqual(await listed("q=a-4711&until=2026-01-01"), [no, no]);
    return page;
  },

  async "a fee is changed with the difference shown, the next quote follows, and it is rolled back"() {
    const before = await quoted("125000");
    const page = await open();
    await signIn(page, "Grace Hopper");
    await page.getByRole("link", { name: "Routing and fees" }).click();
    await page.getByRole("row", { name: /card_provider_b, USD/ }).getByRole("link", { name: "Edit" }).click();
    const percent = page.getByLabel("Percent of the amount").first();
    assert.equal(await percent.inputValue(), "2.60");
    await percent.fill("nonsense");
    await page.getByRole("button", { name: "Review the change" }).click();
    await page.getByRole("alert").filter({ hasText: "the percentage must be" }).waitFor();
    await page.getByLabel("Percent of the amount").first().fill("3.10");
    await page.getByRole("button", { name: "Review the change" }).click();
    const row = page.locator("table.diff tbody tr");
    await row.first().waitFor();
    assert.deepEqual(await row.allInnerTexts().then((rows) => rows.map((one) => one.replace(/\s+/g, " "))),
      ["fees[card_provider_b web_card none USD].platform.percentFeeBps 260 310"]);
    const replay = await page.locator("main").innerText();
    assert.match(replay, /would have had a different fee/);
    assert.match(replay, /\+6\.25 USD|\+\d/);
    assert.deepEqual(await quoted("125000"), before, "nothing is saved by looking at it");
    await shoot(page, "review of a fee");
    await page.getByRole("button", { name: /Save as version/ }).click();
    await page.getByRole("status").filter({ hasText: "Saved as version" }).waitFor();
    const after = await quoted("125000");
    assert.equal(BigInt(after.platformFeeMinor) - BigInt(before.platformFeeMinor), 625n);
    // Back again.
    await page.getByRole("link", { name: "History" }).click();
    const versions = page.getByRole("row");
    assert.match(await versions.nth(1).innerText(), /Grace Hopper/);
    await page.getByRole("link", { name: "Compare and restore" }).nth(1).click();
    await page.getByRole("button", { name: /Restore version \d+/ }).click();
    await page.getByRole("status").filter({ hasText: "restored as version" }).waitFor();
    assert.deepEqual((await quoted("125000")).totalDebitMinor, before.totalDebitMinor);
    return page;
  },

  async "a document with faults is refused with every fault, and a rule is switched"() {
    const page = await open();
    await signIn(page);
    await page.goto(`${base}/config`);
    const document = page.getByLabel("Document");
    const text = await document.inputValue();
    assert.ok(!/sk_test_sandbox_card_provider_a/.test(text), "secrets are masked");
    await document.fill("{ not json");
    await page.getByRole("button", { name: "Review the change" }).click();
    await page.getByRole("alert").filter({ hasText: "not valid JSON" }).waitFor();
    const broken = JSON.parse(text);
    broken.routing.web_card.default.provider = "nobody";
    broken.fees[0].platform.percentFeeBps = -1;
    broken.surprise = true;
    await page.getByLabel("Document").fill(JSON.stringify(broken));
    await page.getByRole("button", { name: "Review the change" }).click();
    await page.locator(".faults li").first().waitFor();
    assert.ok((await page.locator(".faults li").count()) >= 3);
    await page.goto(`${base}/routing`);
    await page.getByRole("button", { name: "Switch off…" }).first().click();
    await page.getByText("routing.web_card.rules[rule_large].enabled").waitFor();
    await page.getByRole("link", { name: "Discard" }).click();
    // A request is tried, and explained.
    await page.getByRole("link", { name: "Try a request" }).click();
    await page.getByLabel("Amount").fill("999.99");
    await page.getByRole("button", { name: "Try it" }).click();
    await page.locator("#decision").filter({ hasText: "card_provider_a, web_card, default" }).waitFor();
    await page.getByText("actual: 99999").waitFor();
    return page;
  },

  async "a rule with a split is added by form, changed and removed"() {
    for (const window of [WINDOWS.desktop, WINDOWS.phone]) {
      const page = await open(window);
      await signIn(page);
      await page.goto(`${base}/routing`);
      await page.getByRole("link", { name: "Add a rule" }).first().click();
      await page.getByLabel("Rule ID").fill("rule_trial");
      await page.getByLabel("Position").fill("1");
      await page.getByLabel("Field").first().fill("metadata.trial");
      await page.getByLabel("Comparison").first().selectOption({ label: "is one of" });
      await page.getByLabel("Value").first().fill("yes, maybe");
      await page.getByLabel("Provider").nth(0).selectOption("card_provider_a, web_card");
      await page.getByLabel("Share").nth(0).fill("95");
      await page.getByLabel("Provider").nth(1).selectOption("card_provider_b, web_card");
      await page.getByLabel("Share").nth(1).fill("five");
      await page.getByLabel("Fallback").first().selectOption("card_provider_b, web_card");
      await page.getByRole("button", { name: "Review the change" }).click();
      await page.getByRole("alert").filter({ hasText: "must be a whole number" }).waitFor();
      assert.equal(await page.getByLabel("Value").first().inputValue(), "yes, maybe", "what was typed stays");
      await page.getByLabel("Share").nth(1).fill("5");
      await page.getByRole("button", { name: "Review the change" }).click();
      await page.getByText("routing.web_card.rules[rule_trial]").first().waitFor();
      await page.getByRole("button", { name: /Save as version/ }).click();
      await page.getByText("95.0 % card_provider_a, web_card; 5.0 % card_provider_b, web_card, else card_provider_b, web_card").waitFor();
      // An amount that is no number is refused in the form.
      await page.getByRole("listitem").filter({ hasText: "rule_trial" }).getByRole("link", { name: "Edit" }).click();
      await page.getByLabel("Field").nth(1).fill("amountMinor");
      await page.getByLabel("Comparison").nth(1).selectOption({ label: "is at least" });
      await page.getByLabel("Value").nth(1).fill("plenty");
      await page.getByRole("button", { name: "Review the change" }).click();
      await page.getByRole("alert").filter({ hasText: "conditions" }).waitFor();
      await page.getByRole("button", { name: "Remove the rule…" }).click();
      await page.getByText("routing.web_card.rules[rule_trial]").first().waitFor();
      await page.getByRole("button", { name: /Save as version/ }).click();
      await page.getByRole("status").filter({ hasText: "Saved as version" }).waitFor();
      assert.equal(await page.getByText("rule_trial").count(), 0);
      await page.close();
    }
    const page = await open();
    await signIn(page);
    return page;
  },

  async "the palette finds pages and payments, and a filter is kept"() {
    const reference = await pay({ customer: { name: "Emmy Noether", email: "emmy@example.com" }, description: "Order 1918" });
    const page = await open();
    await signIn(page);
    await openPalette(page, "Control+k");
    await page.keyboard.type("history of");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Configuration history" }).waitFor();
    // As soon as search knows the payment.
    const deadline = Date.now() + 60_000;
    for (;;) {
      await openPalette(page, "/");
      await page.getByRole("combobox").fill("emmy noether");
      const option = page.getByRole("option", { name: /Order 1918/ }).first();
      if (await option.waitFor({ timeout: 2_000 }).then(() => true, () => false)) {
        await option.click();
        break;
      }
      assert.ok(Date.now() < deadline, "the palette does not find the payment");
      await page.keyboard.press("Escape");
    }
    await page.locator("#reference").filter({ hasText: reference }).waitFor();
    await page.goto(`${base}/payments?status=succeeded&method=web_card`);
    page.once("dialog", (dialog) => dialog.accept("Paid by card"));
    await page.getByRole("button", { name: "Save this filter" }).click();
    await page.goto(`${base}/payments`);
    await page.getByRole("link", { name: "Paid by card" }).click();
    await page.waitForURL(/status=succeeded/);
    await page.getByRole("button", { name: "Forget the filter Paid by card" }).click();
    assert.equal(await page.getByRole("link", { name: "Paid by card" }).count(), 0);
    return page;
  },

  async "a provider is tested, and warnings are shown"() {
    const page = await open();
    await signIn(page);
    await page.getByRole("link", { name: "Providers", exact: true }).click();
    const provider = page.locator("section").filter({ hasText: "card_provider_b" });
    await provider.getByRole("button", { name: "Test", exact: true }).click();
    await page.getByRole("status").filter({ hasText: "card_provider_b passed every check." }).waitFor();
    await provider.getByText("location_status").waitFor();
    await provider.getByRole("button", { name: "Test and register the webhook" }).click();
    await provider.getByText("nothing was created").waitFor();
    await page.goto(`${base}/routing`);
    await page.getByRole("note", { name: "Warnings" }).filter({ hasText: "settings.returnOrigins" }).waitFor();
    return page;
  },

  async "an event is sent again"() {
    const received = [];
    const receiver = createServer((request, response) => {
      request.resume().on("end", () => {
        received.push(request.headers["webhook-id"]);
        response.writeHead(204).end();
      });
    });
    await new Promise((done) => receiver.listen(0, "127.0.0.1", done));
    const page = await open();
    await signIn(page);
    await page.getByRole("link", { name: "Events", exact: true }).click();
    await page.getByRole("link", { name: "Endpoints" }).click();
    await page.getByLabel("Address").fill("ftp://127.0.0.1/");
    await page.getByRole("button", { name: "Add" }).click();
    await page.getByRole("alert").waitFor();
    await page.getByLabel("Address").fill(`http://127.0.0.1:${receiver.address().port}/hook`);
    await page.getByLabel("transaction.succeeded").check();
    await page.getByRole("button", { name: "Add" }).click();
    assert.match(await page.locator("#secret").innerText(), /^whsec_/);
    await page.goto(`${base}/endpoints`);
    assert.ok(!(await page.content()).includes("whsec_"), "a secret is shown once");
    const reference = await pay();
    const arrives = async (count) => {
      const deadline = Date.now() + 60_000;
      while (received.length < count) {
        assert.ok(Date.now() < deadline, `${received.length} of ${count} deliveries came`);
        await new Promise((done) => setTimeout(done, 50));
      }
    };
    await arrives(1);
    await page.goto(`${base}/payments/${reference}`);
    await page.getByRole("link", { name: "transaction.succeeded" }).click();
    await page.getByText("delivered").first().waitFor();
    assert.ok((await page.locator("pre").innerText()).includes(reference));
    await page.getByRole("button", { name: "Resend", exact: true }).click();
    await page.getByRole("status").filter({ hasText: "Resent to 1 endpoint." }).waitFor();
    await arrives(2);
    assert.equal(received[0], received[1], "the same event has the same id");
    await page.goto(`${base}/endpoints`);
    page.once("dialog", (dialog) => dialog.accept());
    await page.getByRole("button", { name: "Remove" }).click();
    await page.getByRole("status").waitFor();
    receiver.close();
    return page;
  },

  async "a part of a payment is refunded, with its share of the fee"() {
    for (const window of [WINDOWS.desktop, WINDOWS.phone]) {
      const reference = await pay({ amountMinor: "125000" });
      const page = await open(window);
      await signIn(page);
      await page.goto(`${base}/payments/${reference}`);
      await page.getByRole("link", { name: "Refund…" }).click();
      await page.getByLabel("Principal in USD").fill("5.00");
      await page.getByLabel("Reason").selectOption("requested_by_customer");
      await page.getByRole("button", { name: "Review" }).click();
      const { feeMinor } = await quoted("125000");
      const share = (Math.floor((Number(feeMinor) * 500 * 2 + 125000) / (2 * 125000)) / 100).toFixed(2);
      assert.equal(await page.locator("#fee-share").innerText(), `${share} USD`);
      const total = await page.locator("#total-refund").innerText();
      assert.equal(total, `${(5 + Number(share)).toFixed(2)} USD`);
      await page.getByRole("button", { name: `Refund ${total}` }).click();
      await page.getByRole("status").filter({ hasText: `Refund of ${total}` }).waitFor();
      await page.getByRole("region", { name: "Refunds" }).waitFor();
      // Nothing, and more than is left, are refused in words.
      for (const [amount, words] of [["0", "must be above zero"], ["1249.00", "are left to refund"]]) {
        await page.goto(`${base}/payments/${reference}/refund`);
        await page.getByLabel("Principal in USD").fill(amount);
        await page.getByRole("button", { name: "Review" }).click();
        await page.getByRole("alert").filter({ hasText: words }).waitFor();
      }
      await page.close();
    }
    const page = await open();
    await signIn(page);
    return page;
  },

  async "a held payment is captured in part, and another is voided"() {
    const page = await open(WINDOWS.phone);
    await signIn(page);
    const captured = await pay({ amountMinor: "125000", capture: "manual" });
    await page.goto(`${base}/payments/${captured}`);
    await page.getByRole("link", { name: "Capture…" }).click();
    await page.getByLabel("Principal in USD").fill("1250.01");
    await page.getByRole("button", { name: "Review" }).click();
    await page.getByRole("alert").filter({ hasText: "was authorized" }).waitFor();
    await page.getByLabel("Principal in USD").fill("400.00");
    await page.getByRole("button", { name: "Review" }).click();
    const fee = parseFloat(await page.locator("#captured-fee").innerText());
    const total = await page.locator("#total-captured").innerText();
    assert.ok(fee > 0 && fee < Number((await quoted("125000")).feeMinor) / 100, "the fee is that of what is captured");
    assert.equal(total, `${(400 + fee).toFixed(2)} USD`);
    await page.getByRole("button", { name: `Capture ${total}` }).click();
    await page.getByRole("status").filter({ hasText: `Captured ${total}` }).waitFor();
    const voided = await pay({ amountMinor: "125000", capture: "manual" });
    await page.goto(`${base}/payments/${voided}`);
    await page.getByRole("link", { name: "Void…" }).click();
    await page.getByRole("button", { name: `Void ${voided}` }).click();
    await page.getByRole("status").filter({ hasText: "released" }).waitFor();
    return page;
  },

  async "paid on the hosted page, and the overview changes"() {
    const page = await open();
    await signIn(page);
    const succeeded = async () => Number((await page.locator("#succeeded").innerText()).replace(/,/g, ""));
    const before = await succeeded();
    const prepared = await backend.prepareHosted({ amountMinor: "12500" });
    const shop = await page.context().newPage();
    await shop.goto(prepared.checkoutUrl);
    await shop.getByLabel("Card number").fill("4242424242424242");
    await shop.getByLabel("Expiry").fill("1234");
    await shop.getByLabel("Security code").fill("123");
    await shop.getByRole("button", { name: /^Pay/ }).click();
    await shop.waitForURL(/checkout\/paid/);
    await backend.reaches(prepared.serviceReference, "succeeded");
    const deadline = Date.now() + 60_000;
    for (;;) {
      await page.goto(base);
      if ((await succeeded()) > before) break;
      assert.ok(Date.now() < deadline, "the overview does not change");
    }
    await page.getByRole("link", { name: prepared.serviceReference }).waitFor();
    await shop.close();
    return page;
  },

  async "funds move in and out, and keys come and go"() {
    const page = await open();
    await signIn(page);
    await page.goto(`${base}/wallets/USD`);
    const available = async () => Number((await page.locator("#available").innerText()).replace(/[^\d.]/g, ""));
    const before = await available();
    await page.getByLabel("Amount in USD").fill("12.345");
    await page.getByLabel("Reference").fill("console test 1");
    await page.getByRole("button", { name: "Fund" }).click();
    await page.getByRole("alert").waitFor();
    await page.getByLabel("Amount in USD").fill("12.34");
    await page.getByRole("button", { name: "Fund" }).click();
    await page.getByRole("status").filter({ hasText: "12.34 USD added." }).waitFor();
    assert.equal((await available()).toFixed(2), (before + 12.34).toFixed(2));
    await page.getByLabel("Amount in USD").fill("12.34");
    await page.getByLabel("Reference").fill("console test 1");
    await page.getByRole("button", { name: "Fund" }).click();
    await page.getByRole("status").filter({ hasText: "no funds moved" }).waitFor();
    await page.getByLabel("Amount in USD").fill("999999999");
    await page.getByLabel("Reference").fill("console test 2");
    await page.getByRole("button", { name: "Withdraw" }).click();
    await page.getByRole("alert").filter({ hasText: "nothing was withdrawn" }).waitFor();
    await page.getByRole("link", { name: "Keys" }).click();
    await page.getByRole("button", { name: "Issue a key" }).click();
    const key = await page.locator("#issued").innerText();
    // With all of its rows, and once its script has made it a page that can be looked at again.
    await page.waitForLoadState();
    const quote = (credential) => fetch(`${notes.baseUrl}/client/v1/fees/quote`, {
      method: "POST",
      headers: { authorization: `Bearer ${credential}`, "content-type": "application/json" },
      body: JSON.stringify({ amountMinor: "1", currency: "USD" }),
    }).then((response) => response.status);
    assert.equal(await quote(key), 200);
    const rows = await page.getByRole("row").count();
    await page.reload();
    assert.ok(!(await page.content()).includes(key), "a key is shown once");
    assert.equal(await page.getByRole("row").count(), rows, "looking again issues no other key");
    page.once("dialog", (dialog) => dialog.accept());
    await page.getByRole("row", { name: new RegExp(key.slice(-4)) }).getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("status").waitFor();
    assert.equal(await quote(key), 401);
    return page;
  },

  async "every flow of the playground runs with a click"() {
    const page = await open();
    await page.goto(`${notes.baseUrl}/playground`);
    const answered = (status, path) =>
      page.locator(".call").filter({ hasText: path }).filter({ hasText: String(status) }).first().waitFor();
    await page.getByRole("button", { name: "Quote" }).click();
    await answered(200, "/client/v1/fees/quote");
    for (const amount of ["12500", "250000"]) {
      await page.getByRole("tab", { name: "Embedded component" }).click();
      await page.getByLabel("Amount in minor units").fill(amount);
      await page.getByRole("button", { name: "Prepare" }).click();
      await page.getByLabel("Card number").fill("4242424242424242");
      await page.getByLabel("Expiry").fill("1234");
      await page.getByLabel("Security code").fill("123");
      await page.getByRole("button", { name: /^Pay/ }).click();
      await page.locator("#outcome").filter({ hasText: "succeeded" }).waitFor();
    }
    await page.getByRole("tab", { name: "Hosted checkout" }).click();
    await page.getByRole("button", { name: "Prepare" }).click();
    const [shop] = await Promise.all([page.context().waitForEvent("page"), page.locator("#checkout").click()]);
    await shop.getByLabel("Card number").fill("4242424242424242");
    await shop.getByLabel("Expiry").fill("1234");
    await shop.getByLabel("Security code").fill("123");
    await shop.getByRole("button", { name: /^Pay/ }).click();
    await shop.waitForURL(/checkout\/paid/);
    await shop.close();
    await page.locator("#outcome").filter({ hasText: "succeeded" }).waitFor();
    await page.getByRole("tab", { name: "ACH transfer" }).click();
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await answered(201, "/client/v1/ach/transfers");
    await page.getByRole("button", { name: "Send the same request again" }).click();
    await page.locator(".call .badge").filter({ hasText: "replayed" }).waitFor();
    await page.getByRole("button", { name: "Let it arrive" }).click();
    await answered(200, "/simulations/ach_transfers/");
    for (const told of ["payment.prepared", "transaction.processing", "transaction.succeeded"]) {
      await page.locator("#feed li").filter({ hasText: told }).first().waitFor();
    }
    const command = await page.locator(".call pre").filter({ hasText: "/fees/quote \\" }).first().textContent();
    assert.match(command, /Authorization: Bearer sk_test_/);
    await shoot(page, "playground");
    return page;
  },

  async "every page is sound in light and dark, on a desktop and a phone"() {
    const reference = await pay({ sourceId: "cnon:card-nonce-declined" });
    const paid = await pay();
    const { items } = await backend.data(200, "GET", `/admin/v1/environments/${notes.environmentId}/events?limit=1`);
    const pages = ["", "/payments", `/payments/${reference}`, `/payments/${paid}/refund`, "/routing", "/fees/edit?fee=0", "/config", "/config/history",
      "/config/history/1", "/try?amount=1250&currency=USD", "/wallets", "/wallets/USD", "/statement", "/disputes", "/providers", "/events",
      `/events/${items[0].id}`, "/endpoints", "/deliveries", "/exceptions", "/waiting", "/requests", "/keys"]
      .map((path) => [path.split("?")[0].replace(reference, "one").replace(paid, "one").replace(/evt_\w+/, "one") || "/overview", base + path]);
    pages.push(["environments", `${notes.baseUrl}/console/environments`], ["playground", `${notes.baseUrl}/playground`], ["first page", `${notes.baseUrl}/`]);
    let page;
    const found = [];
    for (const [window, options] of Object.entries(WINDOWS)) {
      await page?.context().close();
      page = await open(options);
      await page.goto(`${notes.baseUrl}/console/sign-in`);
      await shoot(page, `sign in ${window}`);
      await signIn(page);
      for (const [name, url] of pages) {
        const response = await page.goto(url);
        assert.equal(response.status(), 200, url);
        assert.ok(await page.title());
        const [wanted, there] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
        if (wanted > there) found.push(`${name} is ${wanted} px wide in a window of ${there} px`);
        for (const colorScheme of ["light", "dark"]) {
          await page.emulateMedia({ colorScheme });
          await page.evaluate(`window.axe || (() => { ${axe} })()`);
          found.push(...(await page.evaluate(judge, colorScheme === "light" ? null : ["color-contrast"])).map((fault) => `${name}, ${window}, ${colorScheme}: ${fault}`));
          await shoot(page, `${name} ${window} ${colorScheme}`);
        }
      }
    }
    assert.deepEqual(found, []);
    return page;
  },
};

const wanted = process.argv.slice(2);
let [done, failed] = [0, 0];
for (const [name, run] of Object.entries(cases)) {
  if (wanted.length && !wanted.some((part) => name.includes(part))) continue;
  const started = Date.now();
  faults.length = 0;
  let timer;
  const late = new Promise((_, refuse) => {
    timer = setTimeout(() => refuse(new Error(`not done within ${CASE_MS_MAX} ms`)), CASE_MS_MAX);
  });
  let error = null;
  try {
    await Promise.race([run(), late]);
    assert.deepEqual(faults, []);
  } catch (caught) {
    error = String(caught?.stack ?? caught);
    failed += 1;
    for (const context of browser.contexts()) {
      for (const page of context.pages()) await shoot(page, `failed ${name}`).catch(() => {});
    }
  }
  await Promise.all(browser.contexts().map((context) => context.close().catch(() => {})));
  clearTimeout(timer);
  done += 1;
  console.log(JSON.stringify({ case: name, passed: !error, error, ms: Date.now() - started }));
}
console.log(JSON.stringify({ cases: done, failed }));
await browser.close();
process.exit(failed ? 1 : 0);
