// Reads the API reference at `/docs` and the documentation below it in a real browser, as a developer does, and prints one
// line of JSON for every case.
// The environment is that of `run.mjs`.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const CASE_MS_MAX = 180_000;
const QUOTE = "Quote a fee";

const { CHROMIUM, MODULES, SCREENSHOTS, TOLLGATE_NOTES } = process.env;
const { chromium } = createRequire(join(MODULES, "package.json"))("playwright-core");
const axe = readFileSync(join(MODULES, "node_modules", "axe-core", "axe.min.js"), "utf8");

process.stdin.on("end", () => process.exit(1)).resume();
mkdirSync(SCREENSHOTS, { recursive: true });

const { baseUrl, secretKey } = JSON.parse(readFileSync(TOLLGATE_NOTES, "utf8"));
const browser = await chromium.launch({
  executablePath: CHROMIUM,
  // Whatever a page or the browser itself asks for elsewhere has no address.
  args: ["--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"],
});

const DESKTOP = { viewport: { width: 1440, height: 900 } };
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

// A window whose every request is noted, and whatever its page is kept from doing.
async function open(options, path = "/docs") {
  const context = await browser.newContext({ reducedMotion: "reduce", ...options });
  context.setDefaultTimeout(30_000);
  const page = await context.newPage();
  const elsewhere = [];
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(`${baseUrl}/`) && !/^(data|blob|about):/.test(url)) elsewhere.push(url);
  });
  page.on("console", (message) => {
    if (/Content Security Policy/.test(message.text())) elsewhere.push(message.text());
  });
  await page.goto(baseUrl + path);
  if (path === "/docs") await page.getByRole("heading", { name: "Tollgate" }).first().waitFor();
  return { context, elsewhere, page };
}

async function assertFits(page) {
  const [wanted, there] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(wanted <= there, `${page.url()} is ${wanted} px wide in a window of ${there} px`);
}

// Runs in the page: what axe finds wrong, by all of its rules or some.
async function judge(rules) {
  const { violations } = await window.axe.run(document, rules ? { runOnly: rules } : {});
  return violations.map(({ help, id, nodes }) => `${id}: ${help}: ${nodes.slice(0, 3).map((node) => node.html).join(" | ")}`);
}

const cases = {
  async "an operation is shown, a quote is sent, and nothing leaves the host"() {
    const { context, elsewhere, page } = await open(DESKTOP);
    await page.getByRole("link", { name: QUOTE }).first().click();
    await page.getByRole("heading", { name: QUOTE }).first().waitFor();
    await page.screenshot({ path: join(SCREENSHOTS, "docs-operation.png") });
    await page.getByRole("button", { name: /Test Request.*fees\/quote/is }).first().click();
    // On a busy machine the page may draw its button before it listens to it.
    let answer = null;
    for (let round = 0; !answer && round < 8; round += 1) {
      const isQuote = (response) => response.url() === `${baseUrl}/client/v1/fees/quote`;
      const sent = page.waitForResponse(isQuote, { timeout: 10_000 }).catch(() => null);
      await page.getByRole("button", { name: /Send/ }).last().click({ timeout: 10_000 }).catch(() => {});
      answer = await sent;
    }
    assert.ok(answer, "the quote was not sent");
    assert.equal(answer.status(), 200, await answer.text());
    const { data } = await answer.json();
    assert.equal(data.amountMinor, "1999");
    assert.equal(await answer.request().headerValue("authorization"), `Bearer ${secretKey}`);
    await page.getByText("totalDebitMinor").last().waitFor();
    await page.screenshot({ path: join(SCREENSHOTS, "docs-quote.png") });
    assert.deepEqual(elsewhere, []);
    await context.close();
  },

  async "it fits a phone, in the dark"() {
    const { context, elsewhere, page } = await open({ ...PHONE, colorScheme: "dark" });
    await assertFits(page);
    const brightness = await page.evaluate(() => {
      const [red, green, blue] = getComputedStyle(document.body).backgroundColor.match(/[\d.]+/g).map(Number);
      return (red + green + blue) / 3;
    });
    assert.ok(brightness < 100, `the background's brightness is ${brightness}`);
    await page.screenshot({ path: join(SCREENSHOTS, "docs-phone.png") });
    assert.deepEqual(elsewhere, []);
    await context.close();
  },

  async "the documentation is sound in light and dark, on a desktop and a phone"() {
    const found = [];
    for (const [window, options] of Object.entries({ desktop: DESKTOP, phone: PHONE })) {
      const { context, elsewhere, page } = await open(options, "/docs/overview");
      for (const address of await page.locator(".menu a").evaluateAll((links) => links.map((link) => link.href))) {
        await page.goto(address);
        await assertFits(page);
      }
      for (const path of ["overview", "concepts", "guides/first-payment", "errors", "search?q=refund", "nothing"]) {
        await page.goto(`${baseUrl}/docs/${path}`);
        await assertFits(page);
        for (const colorScheme of ["light", "dark"]) {
          await page.emulateMedia({ colorScheme });
          await page.evaluate(`window.axe || (() => { ${axe} })()`);
          const faults = await page.evaluate(judge, colorScheme === "light" ? null : ["color-contrast"]);
          found.push(...faults.map((fault) => `${path}, ${window}, ${colorScheme}: ${fault}`));
          const name = path.replace(/\W+/g, "-");
          await page.screenshot({ path: join(SCREENSHOTS, `documentation-${name}-${window}-${colorScheme}.png`) });
        }
      }
      found.push(...elsewhere);
      await context.close();
    }
    assert.deepEqual(found, []);
  },

  async "a word is searched by keyboard, a section is read, and an example is copied"() {
    const { context, page } = await open({ ...DESKTOP, permissions: ["clipboard-read", "clipboard-write"] }, "/docs/overview");
    await page.keyboard.press("/");
    await page.keyboard.type("idempotency");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "Idempotency", exact: true }).first().click();
    await page.waitForURL(`${baseUrl}/docs/concepts#idempotency`);
    const example = page.locator(".code").filter({ hasText: "Idempotency-Key: order-1001" });
    await example.getByRole("button", { name: "Copy" }).click();
    await example.getByRole("button", { name: "Copied" }).waitFor();
    assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^curl .*Idempotency-Key: order-1001/s);
    await context.close();
  },

  async "without a script, pages are read, searched and left by their links"() {
    const { context, page } = await open({ ...PHONE, javaScriptEnabled: false }, "/docs/guides/first-payment");
    await page.getByRole("searchbox").fill("insufficient_wallet_balance");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "insufficient_wallet_balance" }).first().click();
    await page.waitForURL(`${baseUrl}/docs/errors#insufficient_wallet_balance`);
    await page.getByRole("link", { name: "This page as Markdown" }).click();
    assert.match(await page.content(), /## `insufficient_wallet_balance`/);
    await context.close();
  },

  async "a call is shown with the SDKs and in Go"() {
    const { context, page } = await open(DESKTOP);
    await page.getByRole("link", { name: QUOTE }).first().click();
    await page.getByRole("heading", { name: QUOTE }).first().waitFor();
    for (const [name, sample] of [
      ["TypeScript", /await tollgate\.fees\.quote\(/],
      ["Python", /result = tollgate\.fees\.quote\(/],
      ["Go", /http\.NewRequest\("POST", os\.Getenv\("TOLLGATE_URL"\)\+"\/client\/v1\/fees\/quote"/],
    ]) {
      await page.getByRole("button", { name: /^Change code sample language/ }).first().click();
      await page.getByRole("option", { name, exact: true }).first().click();
      await page.locator("pre").filter({ hasText: sample }).first().waitFor();
    }
    await page.locator("pre").filter({ hasText: '"totalDebitMinor": "2097"' }).first().waitFor();
    await page.screenshot({ path: join(SCREENSHOTS, "docs-samples.png") });
    await context.close();
  },

  async "a request is shown in curl, JavaScript, Python and Go"() {
    const { context, page } = await open(DESKTOP);
    for (const [name, sample] of [["Node.js", /fetch\(/], ["Python", /requests\.post\(/], ["Go", /http\.NewRequest\(/], ["Shell", /^\s*curl /]]) {
      await page.getByRole("tab", { name }).first().click();
      await page.getByRole("link", { name: QUOTE }).first().click();
      await page.getByRole("heading", { name: QUOTE }).first().waitFor();
      await page.locator("pre").filter({ hasText: sample }).filter({ hasText: "/client/v1/fees/quote" }).first().waitFor();
    }
    await context.close();
  },
};

const wanted = process.argv.slice(2);
let [done, failed] = [0, 0];
for (const [name, run] of Object.entries(cases)) {
  if (wanted.length && !wanted.some((part) => name.includes(part))) continue;
  done += 1;
  const started = Date.now();
  let timer;
  const late = new Promise((_, refuse) => {
    timer = setTimeout(() => refuse(new Error(`not done within ${CASE_MS_MAX} ms`)), CASE_MS_MAX);
  });
  const error = await Promise.race([run(), late]).then(() => null, (caught) => String(caught?.stack ?? caught));
  clearTimeout(timer);
  if (error) {
    failed += 1;
    const pages = browser.contexts().flatMap((context) => context.pages());
    await pages.at(-1)?.screenshot({ path: join(SCREENSHOTS, "docs-failed.png") }).catch(() => {});
  }
  console.log(JSON.stringify({ case: name, passed: !error, error, ms: Date.now() - started }));
}
console.log(JSON.stringify({ cases: done, failed }));
await browser.close();
process.exit(failed ? 1 : 0);
