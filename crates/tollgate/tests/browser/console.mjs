// What an operator does in the console, and a newcomer in the playground, in a real browser. Prints one line of JSON for
// every case. The variables are those of `run.mjs`.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { Backend } from "./backend.mjs";
import { PHONE, browser, inspect, notes, runCases, shoot } from "./case_runner.mjs";

const CASE_MS_MAX = 240_000;
const WINDOWS = { desktop: { viewport: { width: 1366, height: 900 } }, phone: PHONE };

const backend = new Backend(notes);
const base = `${notes.baseUrl}/console/${notes.environmentId}`;
const faults = [];

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

// A card payment through the second provider, which takes the card without a browser.
async function pay({ amountMinor = "125000", sourceId = "cnon:card-nonce-ok", ...rest } = {}) {
  const prepared = await backend.prepareComponent({ amountMinor, ...rest });
  await backend.confirm(prepared.serviceReference, { sourceId });
  return prepared.serviceReference;
}

const CUSTOMER = { name: "Katherine Johnson", email: "katherine@example.com" };

const refund = (reference, amountMinor) => backend.data(201, "POST", `/client/v1/transactions/${reference}/refunds`, {
  idempotencyKey: `console test ${reference} ${amountMinor}`, amountMinor });

// Asks until something is so.
async function eventually(what, holds) {
  const deadline = Date.now() + 60_000;
  for (;;) {
    if (await holds()) return;
    assert.ok(Date.now() < deadline, what);
    await new Promise((done) => setTimeout(done, 200));
  }
}

// What a review says under a name.
const fact = (page, name) => page.locator(".review dt").filter({ hasText: new RegExp(`^${name}$`) }).locator("xpath=following-sibling::dd[1]").innerText();

const quoted = (amountMinor) => backend.data(200, "POST", "/client/v1/fees/quote", { amountMinor, currency: "USD" });

// Every page, with something on it.
async function inspectEveryPage(window) {
  const reference = await pay({ sourceId: "cnon:card-nonce-declined", customer: CUSTOMER, description: "Desk lamp, brass" });
  const paid = await pay({ customer: CUSTOMER, description: "A chair with a long description that does not fit a line of a phone" });
  await refund(paid, "500");
  const { items } = await backend.data(200, "GET", `/admin/v1/environments/${notes.environmentId}/events?limit=1`);
  const pages = ["", "/payments", `/payments/${reference}`, `/payments/${paid}/refund`, "/approvals", "/disputes", "/exceptions", "/waiting",
    "/wallets", "/wallets/USD", "/statement", "/fee-report", "/routing", "/fees", "/fees/program", "/fees/edit?fee=0", "/rules/edit?method=web_card&rule=rule_large", "/config",
    "/config/history", "/config/history/1", "/try?amount=1250&currency=USD", "/providers", "/providers/edit",
    ...["card_provider_a", "card_provider_b", "ach_provider_a", "ach_provider_b"].map((name) => `/providers/edit?provider=${name}`),
    `/customer?q=${encodeURIComponent(CUSTOMER.email)}`, "/events", `/events/${items[0].id}`, "/endpoints", "/deliveries", "/requests", "/keys", "/erase"]
    .map((path) => [path.replace(reference, "one").replace(/q=.*/, "one").replace(paid, "one").replace(/evt_\w+/, "one") || "/overview", base + path]);
  pages.push(...["environments", "users", "audit-log"].map((path) => [path, `${notes.baseUrl}/console/${path}`]));
  pages.push(["playground", `${notes.baseUrl}/playground`], ["first page", `${notes.baseUrl}/`]);
  const found = [];
  const page = await open(WINDOWS[window]);
  await page.goto(`${notes.baseUrl}/console/sign-in`);
  await shoot(page, `sign in ${window}`);
  await signIn(page);
  for (const [name, url] of pages) {
    const response = await page.goto(url);
    assert.equal(response.status(), 200, url);
    assert.ok(await page.title());
    found.push(...(await inspect(page, `${name} ${window}`)));
  }
  assert.deepEqual(found, []);
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
    for (const part of ["succeeded", "1,250.00 USD", "1,287.65 USD", "amountMinor is at least 100000", "actual: 125000", "32.65 USD",
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
  },

  async "payments are picked with chips, added up, and opened by their row or with the keyboard"() {
    const customer = { name: "Mary Jackson", email: "mary@example.com" };
    const lamp = await pay({ description: "Desk lamp, oak", customer });
    const chair = await pay({ description: "Chair", customer });
    await refund(chair, "25000");
    const held = await pay({ description: "Hotel room", customer, capture: "manual" });
    const page = await open();
    await signIn(page);
    await page.getByRole("link", { name: "Payments", exact: true }).click();
    const row = (reference) => page.locator(".payments tbody tr").filter({ hasText: reference });
    const status = (name) => page.getByRole("navigation", { name: "Status" }).getByRole("link", { name, exact: true });
    const texts = async (reference) => (await row(reference).locator("td").allInnerTexts()).map((text) => text.trim());
    const [who, how, amount, state, when, about] = await texts(chair);
    assert.match(who, /^Mary Jackson/);
    assert.match(how, /^\S.* ····\d{4}$/);
    assert.deepEqual([amount, state.replace(/\s+/g, " "), about], ["1,250.00 USD", "succeeded partly refunded", "Chair"]);
    assert.match(when, /\d{1,2}:\d{2}/);
    assert.match(await row(chair).locator("time").getAttribute("title"), /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/);
    // What is filtered, and what it comes to.
    await status("Partly refunded").click();
    assert.deepEqual([await row(chair).count(), await row(lamp).count()], [1, 0]);
    const totals = page.getByRole("list", { name: "Totals" });
    assert.match(await totals.innerText(), /card payments?, [\d,.]+ USD: paid, with [\d,.]+ USD of fees; [\d,.]+ USD refunded\./);
    await status("Authorized").click();
    assert.deepEqual([await row(held).count(), await row(chair).count()], [1, 0]);
    await status("Disputed").click();
    await page.getByText("No results.").waitFor();
    await page.getByRole("link", { name: "Clear" }).click();
    await page.getByRole("navigation", { name: "Method" }).getByRole("link", { name: "Bank transfer" }).click();
    assert.equal(await row(lamp).count(), 0);
    // Every word counts, in whatever order; a search keeps the chip.
    await page.goto(`${base}/payments?status=succeeded`);
    await eventually("the lamp is not found", async () => {
      await page.getByRole("searchbox", { name: "Search" }).fill("oak lamp mary");
      await page.getByRole("searchbox", { name: "Search" }).press("Enter");
      return (await row(lamp).count()) === 1;
    });
    assert.match(page.url(), /status=succeeded/);
    assert.equal(await row(chair).count(), 0);
    assert.match(await totals.innerText(), /^1 card payment, 1,250\.00 USD: paid/);
    // Anywhere in the row opens it, and so do the keys.
    // The link that lies over the whole row is what the click meets.
    await row(lamp).locator(".about").click({ force: true });
    await page.locator("#reference").filter({ hasText: lamp }).waitFor();
    await page.goto(`${base}/payments`);
    const focused = () => page.evaluate(() => document.activeElement.closest("tr")?.rowIndex);
    await page.locator("[data-shortcuts]").waitFor();
    for (const [key, place] of [["j", 1], ["j", 2], ["k", 1]]) {
      await page.keyboard.press(key);
      assert.equal(await focused(), place, key);
    }
    await page.keyboard.press("Enter");
    await page.locator("#reference").filter({ hasText: held }).waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    assert.deepEqual(await inspect(page, "shortcuts"), []);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
  },

  async "a list renews itself and keeps its place"() {
    for (let paid = 0; paid < 3; paid++) await pay();
    const page = await open();
    await signIn(page);
    await page.goto(`${base}/payments`);
    await page.locator("[data-shortcuts]").waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    const focused = () => page.evaluate(() => document.activeElement.getAttribute("href"));
    const here = await focused();
    assert.match(here, /\/payments\/pay_/);
    const [before] = await page.context().cookies();
    const reference = await pay({ description: "Came later" });
    await page.locator(".payments tbody tr").filter({ hasText: "Came later" }).waitFor({ timeout: 60_000 });
    assert.equal(await focused(), here, "the focus stays on its payment");
    assert.equal(await page.evaluate(() => document.activeElement.closest("tr").rowIndex), 3, "which is one further down");
    assert.match(await page.locator(".payments time").first().innerText(), /^(?!.*UTC)/, "new rows are in the reader's time, too");
    const [after] = await page.context().cookies();
    assert.equal(after.value, before.value, "a page that renews itself keeps nobody signed in");
    await page.getByRole("link", { name: reference }).click();
    await page.locator("#reference").filter({ hasText: reference }).waitFor();
  },

  async "a customer has a page, from which their data is erased"() {
    const customer = { name: "Dorothy Vaughan", email: "dorothy@example.com" };
    const references = [await pay({ customer, description: "First order" }), await pay({ customer, description: "Second order" })];
    const page = await open();
    await signIn(page);
    await page.goto(`${base}/payments/${references[0]}`);
    const person = page.getByRole("link", { name: "Dorothy Vaughan" });
    await eventually("both payments are not indexed", async () => {
      await page.goto(`${base}/payments/${references[0]}`);
      await person.click();
      return (await page.locator(".payments tbody tr").count()) === 2;
    });
    await page.getByRole("heading", { name: "Dorothy Vaughan", level: 1 }).waitFor();
    const kept = await page.getByRole("region", { name: "Kept with these payments" }).innerText();
    assert.match(kept, /dorothy@example\.com/);
    assert.match(kept, /····\d{4}, expires \d\d\/\d{4}/);
    assert.match(await page.getByRole("list", { name: "Totals" }).innerText(), /^2 card payments, 2,500\.00 USD: paid/);
    await page.getByRole("link", { name: "Erase personal data…" }).click();
    assert.equal(await page.getByLabel("Email address").inputValue(), customer.email);
    await page.getByRole("button", { name: "Review" }).click();
    assert.match(await fact(page, "Who is affected"), /dorothy@example\.com/);
    await page.getByRole("link", { name: "Back", exact: true }).click();
    await page.goto(`${base}/payments`);
    assert.equal(await page.getByRole("link", { name: "Erase" }).count(), 0, "not among the filters");
  },

  async "a note stays with a payment, and a refund is one line that unfolds"() {
    const reference = await pay({ customer: CUSTOMER });
    await refund(reference, "500");
    const page = await open();
    await signIn(page, "Grace");
    await page.goto(`${base}/payments/${reference}`);
    await page.getByLabel("Add a note").fill("4242 4242 4242 4242");
    await page.getByRole("button", { name: "Add the note" }).click();
    await page.getByText("contains a card number").waitFor();
    await page.goto(`${base}/payments/${reference}`);
    await page.getByLabel("Add a note").fill("The customer called: arrived broken.");
    await page.getByRole("button", { name: "Add the note" }).click();
    await page.getByRole("status").filter({ hasText: "Note added." }).waitFor();
    const note = page.locator(".timeline > li.note");
    assert.match(await note.innerText(), /Note by .*Grace[^]*The customer called: arrived broken\./);
    const refunds = page.locator(".timeline > li").filter({ hasText: /^.*Refund (pending|processing|succeeded)/ });
    await eventually("the refund does not end", async () => {
      await page.reload();
      return (await refunds.filter({ hasText: "Refund succeeded" }).count()) === 1;
    });
    assert.equal(await refunds.count(), 1);
    await refunds.getByText(/^\d steps$/).click();
    await refunds.getByText("Refund pending").waitFor();
    // It is in the audit log, without its words.
    await page.goto(`${notes.baseUrl}/console/audit-log?action=payment.note&subject=${reference}`);
    const log = await page.locator("main").innerText();
    assert.ok(log.includes("payment.note") && !log.includes("arrived broken"), log);
    await page.goto(`${base}/payments/${reference}`);
    const provider = page.locator("dl.facts").getByRole("link", { name: /\w{8}/ });
    const links = await provider.evaluateAll((all) => all.map((link) => link.href));
    assert.ok(links.some((link) => link.includes(`/requests?q=req_`)) && links.some((link) => /squareup(sandbox)?\.com/.test(link)), links.join());
  },

  async "on a phone the header is low, the menu shows where one is, and payments are compact cards"() {
    await pay({ customer: CUSTOMER, description: "A chair with a long description that does not fit a line of a phone" });
    const reference = await pay({ customer: CUSTOMER, description: "Lamp" });
    await refund(reference, "500");
    const page = await open(WINDOWS.phone);
    await signIn(page);
    for (const path of ["", "/payments", "/keys", "/requests", "/console/users", "/console/audit-log"]) {
      await page.goto((path.startsWith("/console") ? notes.baseUrl : base) + path);
      const header = await page.locator("header.top").evaluate((it) => it.getBoundingClientRect().height);
      assert.ok(header <= 96, `the header of ${path} is ${header} px high`);
      const [left, right, width] = await page.locator(".menu [aria-current]").evaluate((it) => {
        const { left, right } = it.getBoundingClientRect();
        return [left, right, innerWidth];
      });
      assert.ok(left >= 0 && right <= width, `${path}: the current page is from ${left} to ${right} of ${width}`);
    }
    await page.goto(`${base}/payments`);
    const heights = await page.locator(".payments tbody tr").evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().height));
    assert.ok(heights.length > 1 && heights.every((height) => height <= 100), heights.join());
  },

  async "a fee is changed with the difference shown, the next quote follows, and it is rolled back"() {
    for (const [window, options] of Object.entries(WINDOWS)) {
      const before = await quoted("125000");
      const page = await open(options);
      await signIn(page, "Grace Hopper");
      await page.getByRole("link", { name: "Routing and fees" }).click();
      await page.locator("tr").filter({ hasText: "card_provider_b, USD" }).getByRole("link", { name: "Edit" }).click();
      const percent = page.getByLabel("Percent of the amount").first();
      assert.equal(await percent.inputValue(), "2.60");
      await percent.fill("nonsense");
      await page.getByRole("button", { name: "Review the change" }).click();
      await page.getByRole("alert").filter({ hasText: "the percentage must be" }).waitFor();
      await page.getByLabel("Percent of the amount").first().fill("3.10");
      await page.getByRole("button", { name: "Review the change" }).click();
      const changes = page.locator("[aria-label=Changes] tbody tr");
      await changes.first().waitFor();
      assert.equal(await changes.count(), 1);
      const change = (await changes.first().innerText()).replace(/\s+/g, " ");
      assert.match(change, /^Card fee of card_provider_b in USD, platform .*2\.60 % \+ 0\.\d\d USD .*3\.10 % \+ 0\.\d\d USD/);
      await page.getByText("Field by field").click();
      await page.getByText("fees[card_provider_b web_card none USD].platform.percentFeeBps").waitFor();
      const replay = await page.locator("main").innerText();
      assert.match(replay, /would have had a different fee/);
      assert.match(replay, /\+6\.25 USD|\+\d/);
      assert.deepEqual(await quoted("125000"), before, "nothing is saved by looking at it");
      assert.deepEqual(await inspect(page, `review of a fee ${window}`), []);
      await page.getByRole("button", { name: /Save as version/ }).click();
      await page.getByRole("status").filter({ hasText: "Saved as version" }).waitFor();
      const after = await quoted("125000");
      assert.equal(BigInt(after.platformFeeMinor) - BigInt(before.platformFeeMinor), 625n);
      // Back again.
      await page.getByRole("link", { name: "History" }).click();
      const newest = page.locator("tbody tr").first();
      assert.match(await newest.innerText(), /Card fee of card_provider_b in USD, platform: 2\.60 %.*→ 3\.10 %[^]*Grace Hopper/);
      await page.getByRole("link", { name: "Compare and restore" }).nth(1).click();
      await page.getByRole("button", { name: /Restore version \d+/ }).click();
      await page.getByRole("status").filter({ hasText: "restored as version" }).waitFor();
      assert.deepEqual((await quoted("125000")).totalDebitMinor, before.totalDebitMinor);
      await page.getByRole("link", { name: "History" }).click();
      assert.match(await newest.innerText(), /Back to version \d+\s+Card fee of card_provider_b in USD, platform: 3\.10 %.*→ 2\.60 %/);
      await page.close();
    }
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
    await page.getByRole("cell", { name: "Card rule rule_large" }).waitFor();
    await page.getByRole("link", { name: "Discard" }).click();
    // A request is tried, and explained.
    await page.getByRole("link", { name: "Try a request" }).click();
    await page.getByLabel("Amount").fill("999.99");
    await page.getByRole("button", { name: "Try it" }).click();
    await page.locator("#decision").filter({ hasText: "card_provider_a, web_card, default" }).waitFor();
    await page.getByText("actual: 99999").waitFor();
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
      await page.getByLabel("Comparison").first().selectOption({ label: "is none of" });
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
      await page.getByText("Card rule rule_trial").first().waitFor();
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
      await page.getByText("Card rule rule_trial").first().waitFor();
      await page.getByRole("button", { name: /Save as version/ }).click();
      await page.getByRole("status").filter({ hasText: "Saved as version" }).waitFor();
      assert.equal(await page.getByText("rule_trial").count(), 0);
      await page.close();
    }
  },

  async "why a payment failed is found from the customer's e-mail in three clicks"() {
    for (const [window, options] of Object.entries(WINDOWS)) {
      const email = `declined.${window}@example.com`;
      const reference = await pay({ sourceId: "cnon:card-nonce-declined", customer: { name: "Rosalind Franklin", email } });
      const page = await open(options);
      await signIn(page);
      const field = page.getByLabel("Find a payment").and(page.locator("input"));
      let clicks = 0;
      const click = (what) => { clicks += 1; return what.click(); };
      await click(field.first());
      await page.getByRole("combobox").fill(email);
      await page.keyboard.press("Enter");
      await page.waitForURL(/payments\?q=/);
      // As soon as search knows the payment.
      const found = page.getByRole("link", { name: reference });
      const deadline = Date.now() + 60_000;
      while (!(await found.count())) {
        assert.ok(Date.now() < deadline, `${email} does not find ${reference}`);
        await page.reload();
      }
      await click(found);
      await page.locator("p.fault").filter({ hasText: /declined/i }).waitFor();
      assert.ok(clicks <= 3, `${clicks} clicks`);
      await page.close();
    }
  },

  async "a failing endpoint is found from the overview"() {
    const receiver = createServer((request, response) => request.resume().on("end", () => response.writeHead(500).end()));
    await new Promise((done) => receiver.listen(0, "127.0.0.1", done));
    const url = `http://127.0.0.1:${receiver.address().port}/broken`;
    const endpoints = `/admin/v1/environments/${notes.environmentId}/event-endpoints`;
    const { id } = await backend.data(201, "POST", endpoints, { url, events: ["*"] });
    for (let paid = 0; paid < 3; paid++) await pay();
    for (const options of Object.values(WINDOWS)) {
      const page = await open(options);
      await signIn(page);
      const notice = page.getByRole("region", { name: "Needs attention" }).getByRole("link", { name: `${url} has failed` });
      const deadline = Date.now() + 60_000;
      while (!(await notice.count())) {
        assert.ok(Date.now() < deadline, "the overview does not know of the endpoint");
        await page.goto(base);
      }
      await notice.click();
      const endpoint = page.locator("section").filter({ hasText: url });
      await endpoint.getByText("failing").waitFor();
      await endpoint.getByRole("link", { name: "Deliveries" }).click();
      await page.getByText("500").first().waitFor();
      assert.deepEqual(await inspect(page, "deliveries that failed"), []);
      await page.close();
    }
    await backend.data(200, "DELETE", `${endpoints}/${id}`);
    receiver.close();
  },

  async "a degraded provider is found from the overview, stopped and started again"() {
    const faults = `${notes.baseUrl}/simulator/control/faults`;
    const fault = { wire: "stripe", operation: "payment_intents.create", fault: "error_before", count: 3 };
    await fetch(faults, { method: "POST", body: JSON.stringify(fault) });
    // Until the faults are used up and a call gets through: some answers come, others do not.
    for (let tries = 0; tries < 6; tries++) {
      const { status } = await backend.call("POST", "/client/v1/payments/component", { amountMinor: "12500", currency: "USD" });
      if (status === 201) break;
    }
    for (const options of Object.values(WINDOWS)) {
      const page = await open(options);
      await signIn(page);
      await page.getByRole("region", { name: "Needs attention" }).getByRole("link", { name: /card_provider_a.*degraded/ }).click();
      const provider = page.locator("section").filter({ hasText: "card_provider_a" });
      await provider.getByText("degraded").waitFor();
      await provider.getByText(/Last error/).waitFor();
      await provider.getByRole("button", { name: "Pause provider…" }).click();
      assert.deepEqual(await inspect(page, "review of a pause"), []);
      await page.getByRole("button", { name: "Pause card_provider_a" }).click();
      await page.getByRole("status").filter({ hasText: "card_provider_a is paused" }).waitFor();
      await provider.getByText("paused by an operator").waitFor();
      await provider.getByRole("button", { name: "Resume provider…" }).click();
      await page.getByRole("button", { name: "Resume card_provider_a" }).click();
      await page.getByRole("status").filter({ hasText: "gets new payments again" }).waitFor();
      await page.close();
    }
    await backend.prepareComponent({ amountMinor: "12500" });
  },

  async "a provider is added by form, changed, and removed"() {
    const config = () => backend.data(200, "GET", `/admin/v1/environments/${notes.environmentId}/config`);
    for (const [window, options] of Object.entries({ desktop: WINDOWS.desktop, phone: { ...PHONE, javaScriptEnabled: false } })) {
      const page = await open(options);
      await signIn(page);
      const section = page.locator("section").filter({ has: page.getByRole("heading", { name: "bank_trial" }) });
      const review = () => page.getByRole("button", { name: "Review the change" }).click();
      const change = (what) => page.locator("[aria-label=Changes] tr").filter({ hasText: what }).first().waitFor();
      const save = async () => {
        await page.getByRole("button", { name: /Save as version/ }).click();
        await page.getByRole("status").filter({ hasText: "Saved as version" }).waitFor();
        assert.match(page.url(), /\/providers\?/);
      };
      await page.getByRole("link", { name: "Providers", exact: true }).click();
      await page.getByRole("link", { name: "Add a provider" }).click();
      await page.getByRole("link", { name: /^Increase/ }).click();
      await page.getByLabel("Name", { exact: true }).fill("card_provider_a");
      await page.getByLabel("API key").fill("a secret of the trial");
      await page.getByLabel("Account ID").fill("account_trial");
      await page.getByLabel("Base URL").fill("ftp://nowhere");
      await review();
      await page.getByText("There is a provider card_provider_a already").waitFor();
      await page.getByLabel("Name", { exact: true }).fill("bank_trial");
      await review();
      await page.locator(".field").filter({ hasText: "Base URL" }).getByText("must be an https URL").waitFor();
      assert.equal(await page.getByLabel("Account ID").inputValue(), "account_trial", "what was typed stays");
      assert.deepEqual(options.javaScriptEnabled === false ? [] : await inspect(page, `provider with a fault ${window}`), []);
      await page.getByLabel("Base URL").fill("");
      await page.getByLabel("Environment").selectOption("sandbox");
      await review();
      await change("Provider bank_trial");
      await save();
      await section.getByText("test", { exact: true }).waitFor();
      const { apiKey } = (await config()).providers.bank_trial.credentials;
      // A secret stays, is never shown, and goes to no other address.
      await section.getByRole("link", { name: "Edit" }).click();
      assert.equal(await page.getByLabel("API key").inputValue(), "");
      assert.ok(!(await page.content()).includes("a secret of the trial"));
      await page.getByLabel("Environment").selectOption("production");
      await review();
      await page.locator(".field").filter({ hasText: "API key" }).getByText("Enter this secret again").waitFor();
      await page.getByLabel("API key").fill("another secret of the trial");
      await review();
      await change("Provider bank_trial, API key");
      await page.getByRole("link", { name: "Discard" }).click();
      await section.getByRole("link", { name: "Edit" }).click();
      await page.getByLabel("Account ID").fill("account_other");
      await review();
      await change("Provider bank_trial, Account ID");
      await save();
      const changed = (await config()).providers.bank_trial;
      assert.deepEqual([changed.credentials.apiKey, changed.funding.accountId], [apiKey, "account_other"]);
      // Another adapter has other fields.
      await section.getByRole("link", { name: "Edit" }).click();
      await page.getByLabel("Another adapter").selectOption({ label: "Modern Treasury" });
      await page.getByRole("button", { name: "Show its fields" }).click();
      await page.getByLabel("Organization ID").fill("org_trial");
      await review();
      await page.locator(".field").filter({ hasText: "API key" }).getByText("the adapter changes").waitFor();
      await page.getByRole("button", { name: "Remove the provider…" }).click();
      await change("Provider bank_trial");
      await save();
      assert.equal(await section.count(), 0);
      // What routes and fees use stays.
      await page.goto(`${base}/providers/edit?provider=card_provider_a`);
      await page.getByRole("button", { name: "Remove the provider…" }).click();
      await page.getByRole("alert").filter({ hasText: "card_provider_a is still in use" }).waitFor();
      await page.close();
    }
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
  },

  async "the palette has actions, also by other words, and only those of the role"() {
    const page = await open();
    await signIn(page);
    const find = async (words) => {
      await openPalette(page, "Control+k");
      await page.getByRole("combobox").fill(words);
      return page.getByRole("option").filter({ hasNotText: "Search payments" });
    };
    const titles = async (words) => {
      const found = (await (await find(words)).allInnerTexts()).map((text) => text.split("\n")[0]);
      await page.keyboard.press("Escape");
      return found;
    };
    assert.deepEqual(await titles("pause provider"), ["Pause provider…"]);
    assert.deepEqual(await titles("circuit"), ["Pause provider…", "Resume provider…"]);
    assert.ok((await titles("gdpr")).includes("Erase a customer…"));
    assert.ok((await titles("refund…")).includes("Refund a payment…"));
    await (await find("add provider")).first().click();
    await page.getByRole("heading", { name: "Add a provider" }).waitFor();
    // What is open comes first.
    const reference = await pay();
    await page.goto(`${base}/payments/${reference}`);
    assert.equal((await titles("refund"))[0], "Refund…");
  },

  async "users, the audit log and errors keep the menu, and a role is changed in place"() {
    const page = await open();
    await signIn(page);
    const menu = page.getByRole("navigation", { name: "Sections" });
    await menu.getByRole("link", { name: "Users" }).click();
    assert.equal(await menu.getByRole("link", { name: "Users" }).getAttribute("aria-current"), "page");
    const add = page.locator("form").filter({ has: page.getByRole("button", { name: "Add", exact: true }) });
    await add.getByLabel("Name").fill("Hedy Lamarr");
    await add.getByLabel("Email").fill("hedy@example.com");
    await add.getByRole("checkbox").first().check();
    await add.getByRole("button", { name: "Add" }).click();
    const row = page.getByRole("row").filter({ hasText: "hedy@example.com" });
    await row.getByText("never").waitFor();
    const organizations = row.locator("details").first();
    assert.ok(!(await organizations.locator("summary").innerText()).includes("all organizations"), "what is chosen is named");
    await row.getByLabel("Role of Hedy Lamarr").selectOption("operator");
    await row.getByRole("button", { name: "Change…" }).click();
    assert.match(await fact(page, "Then"), /^operator: .*issues and revokes keys/);
    await page.getByRole("button", { name: "Change the role" }).click();
    await page.getByRole("status").filter({ hasText: "Hedy Lamarr is operator from now on." }).waitFor();
    assert.equal(await row.getByLabel("Role of Hedy Lamarr").inputValue(), "operator");
    await menu.getByRole("link", { name: "Audit log" }).click();
    await page.getByText("user.change").first().waitFor();
    assert.equal((await page.goto(`${base}/payments/pay_00000000000000000000000000`)).status(), 404);
    await page.getByRole("heading", { name: "Not found" }).waitFor();
    await openPalette(page, "/");
    await page.keyboard.press("Escape");
    await menu.getByRole("link", { name: "Keys" }).click();
    await page.getByText("active").first().waitFor();
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
    await page.getByRole("button", { name: "Remove…" }).click();
    await page.getByRole("button", { name: "Remove", exact: true }).click();
    await page.getByRole("status").waitFor();
    receiver.close();
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
      assert.equal(await fact(page, "Fee"), `${share} USD`);
      const total = await fact(page, "Total");
      assert.equal(total, `${(5 + Number(share)).toFixed(2)} USD`);
      await page.getByRole("button", { name: `Refund ${total}` }).click();
      await page.getByRole("status").filter({ hasText: `Refund of ${total}` }).waitFor();
      await page.getByRole("region", { name: "Refunds" }).waitFor();
      await page.getByRole("link", { name: /^Audit entry \d+$/ }).click();
      await page.getByRole("cell", { name: reference }).waitFor();
      assert.equal(await page.locator("main tbody tr").count(), 1);
      await page.getByText("payment.refund").waitFor();
      // Nothing, and more than is left, are refused in words.
      for (const [amount, words] of [["0", "must be above zero"], ["1249.00", "are left to refund"]]) {
        await page.goto(`${base}/payments/${reference}/refund`);
        await page.getByLabel("Principal in USD").fill(amount);
        await page.getByRole("button", { name: "Review" }).click();
        await page.getByRole("alert").filter({ hasText: words }).waitFor();
      }
      await page.close();
    }
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
    const fee = parseFloat(await fact(page, "Fee"));
    const total = await fact(page, "Total");
    assert.ok(fee > 0 && fee < Number((await quoted("125000")).feeMinor) / 100, "the fee is that of what is captured");
    assert.equal(total, `${(400 + fee).toFixed(2)} USD`);
    await page.getByRole("button", { name: `Capture ${total}` }).click();
    await page.getByRole("status").filter({ hasText: `Captured ${total}` }).waitFor();
    const voided = await pay({ amountMinor: "125000", capture: "manual" });
    await page.goto(`${base}/payments/${voided}`);
    await page.getByRole("link", { name: "Void…" }).click();
    await page.getByRole("button", { name: /^Void [\d,.]+ USD$/ }).click();
    await page.getByRole("status").filter({ hasText: "released" }).waitFor();
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
    await page.getByRole("button", { name: "Fund…" }).click();
    assert.equal(await fact(page, "Reference"), "console test 1");
    await page.getByRole("button", { name: "Fund 12.34 USD" }).click();
    await page.getByRole("status").filter({ hasText: "12.34 USD added." }).waitFor();
    assert.equal((await available()).toFixed(2), (before + 12.34).toFixed(2));
    await page.getByLabel("Amount in USD").fill("12.34");
    await page.getByLabel("Reference").fill("console test 1");
    await page.getByRole("button", { name: "Fund…" }).click();
    await page.getByRole("button", { name: "Fund 12.34 USD" }).click();
    await page.getByRole("status").filter({ hasText: "no funds moved" }).waitFor();
    await page.getByLabel("Amount in USD").fill("999999999");
    await page.getByLabel("Reference").fill("console test 2");
    await page.getByRole("button", { name: "Withdraw" }).click();
    await page.getByRole("alert").filter({ hasText: "nothing was withdrawn" }).waitFor();
    assert.equal(await page.getByRole("button", { name: /^Withdraw/ }).count(), 0, "nothing to confirm");
    await page.getByRole("link", { name: "Keys", exact: true }).click();
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
    await page.getByRole("row", { name: new RegExp(key.slice(-4)) }).getByRole("button", { name: "Revoke…" }).click();
    assert.equal(await quote(key), 200, "a review revokes nothing");
    await page.getByRole("button", { name: /^Revoke sk_/ }).click();
    await page.getByRole("status").waitFor();
    assert.equal(await quote(key), 401);
  },

  async "every flow of the playground runs with a click"() {
    const page = await open();
    await page.goto(`${notes.baseUrl}/playground`);
    const answered = (status, path) =>
      page.locator(".call").filter({ hasText: path }).filter({ hasText: String(status) }).first().waitFor();
    await page.getByRole("button", { name: "Quote" }).click();
    await answered(200, "/client/v1/fees/quote");
    for (const [amount, acquirer] of [["12500", "by amount"], ["250000", "by amount"], ["12500", "c"]]) {
      await page.getByRole("tab", { name: "Embedded component" }).click();
      await page.getByLabel("Amount in minor units").fill(amount);
      await page.getByLabel("Card provider").selectOption(acquirer);
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
  },

  async "every page is sound on a desktop, in light and dark"() {
    await inspectEveryPage("desktop");
  },

  async "every page is sound on a phone, in light and dark"() {
    await inspectEveryPage("phone");
  },
};

await runCases(cases, CASE_MS_MAX, faults);
