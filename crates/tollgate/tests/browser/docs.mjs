// Reads the API reference at `/docs` and the documentation below it in a real browser, as a developer does, and prints one
// line of JSON for every case.
// The environment is that of `run.mjs`.

import assert from "node:assert/strict";
import { PHONE, browser, inspect, notes, runCases, shoot } from "./case_runner.mjs";

const CASE_MS_MAX = 180_000;
const QUOTE = "Quote a fee";
const { baseUrl, secretKey } = notes;
const DESKTOP = { viewport: { width: 1440, height: 900 } };

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
  return { elsewhere, page };
}

async function assertFits(page) {
  const [wanted, there] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(wanted <= there, `${page.url()} is ${wanted} px wide in a window of ${there} px`);
}

const cases = {
  async "an operation is shown, a quote is sent, and nothing leaves the host"() {
    const { elsewhere, page } = await open(DESKTOP);
    await page.getByRole("link", { name: QUOTE }).first().click();
    await page.getByRole("heading", { name: QUOTE }).first().waitFor();
    await shoot(page, "docs operation", false);
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
    await shoot(page, "docs quote", false);
    assert.deepEqual(elsewhere, []);
  },

  async "it fits a phone, in the dark"() {
    const { elsewhere, page } = await open({ ...PHONE, colorScheme: "dark" });
    await assertFits(page);
    const brightness = await page.evaluate(() => {
      const [red, green, blue] = getComputedStyle(document.body).backgroundColor.match(/[\d.]+/g).map(Number);
      return (red + green + blue) / 3;
    });
    assert.ok(brightness < 100, `the background's brightness is ${brightness}`);
    await shoot(page, "docs phone", false);
    assert.deepEqual(elsewhere, []);
  },

  async "the documentation is sound in light and dark, on a desktop and a phone"() {
    const found = [];
    for (const [window, options] of Object.entries({ desktop: DESKTOP, phone: PHONE })) {
      const { elsewhere, page } = await open(options, "/docs/overview");
      for (const address of await page.locator(".menu a").evaluateAll((links) => links.map((link) => link.href))) {
        await page.goto(address);
        await assertFits(page);
      }
      for (const path of ["overview", "concepts", "guides/first-payment", "errors", "search?q=refund", "nothing"]) {
        await page.goto(`${baseUrl}/docs/${path}`);
        found.push(...(await inspect(page, `documentation ${path} ${window}`, false)));
      }
      found.push(...elsewhere);
      }
    assert.deepEqual(found, []);
  },

  async "a word is searched by keyboard, a section is read, and an example is copied"() {
    const { page } = await open({ ...DESKTOP, permissions: ["clipboard-read", "clipboard-write"] }, "/docs/overview");
    await page.keyboard.press("/");
    await page.keyboard.type("idempotency");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "Idempotency", exact: true }).first().click();
    await page.waitForURL(`${baseUrl}/docs/concepts#idempotency`);
    const example = page.locator(".code").filter({ hasText: "Idempotency-Key: order-1001" });
    await example.getByRole("button", { name: "Copy" }).click();
    await example.getByRole("button", { name: "Copied" }).waitFor();
    assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^curl .*Idempotency-Key: order-1001/s);
  },

  async "without a script, pages are read, searched and left by their links"() {
    const { page } = await open({ ...PHONE, javaScriptEnabled: false }, "/docs/guides/first-payment");
    await page.getByRole("searchbox").fill("insufficient_wallet_balance");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "insufficient_wallet_balance" }).first().click();
    await page.waitForURL(`${baseUrl}/docs/errors#insufficient_wallet_balance`);
    await page.getByRole("link", { name: "This page as Markdown" }).click();
    assert.match(await page.content(), /## `insufficient_wallet_balance`/);
  },

  async "a call is shown with the SDKs and in Go"() {
    const { page } = await open(DESKTOP);
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
    await shoot(page, "docs samples", false);
  },

  async "a request is shown in curl, JavaScript, Python and Go"() {
    const { page } = await open(DESKTOP);
    for (const [name, sample] of [["Node.js", /fetch\(/], ["Python", /requests\.post\(/], ["Go", /http\.NewRequest\(/], ["Shell", /^\s*curl /]]) {
      await page.getByRole("tab", { name }).first().click();
      await page.getByRole("link", { name: QUOTE }).first().click();
      await page.getByRole("heading", { name: QUOTE }).first().waitFor();
      await page.locator("pre").filter({ hasText: sample }).filter({ hasText: "/client/v1/fees/quote" }).first().waitFor();
    }
  },
};

await runCases(cases, CASE_MS_MAX);
