// Reads the API reference at `/docs` in a real browser, as a developer does, and prints one line of JSON for every case.
// The environment is that of `run.mjs`.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const CASE_MS_MAX = 180_000;
const QUOTE = "Quote a fee";

const { CHROMIUM, MODULES, SCREENSHOTS, TOLLGATE_NOTES } = process.env;
const { chromium } = createRequire(join(MODULES, "package.json"))("playwright-core");

process.stdin.on("end", () => process.exit(1)).resume();
mkdirSync(SCREENSHOTS, { recursive: true });

const { baseUrl, secretKey } = JSON.parse(readFileSync(TOLLGATE_NOTES, "utf8"));
const browser = await chromium.launch({
  executablePath: CHROMIUM,
  // Whatever a page or the browser itself asks for elsewhere has no address.
  args: ["--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"],
});

// A window whose every request is noted, and whatever its page is kept from doing.
async function open(options) {
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
  await page.goto(`${baseUrl}/docs`);
  await page.getByRole("heading", { name: "Tollgate" }).first().waitFor();
  return { context, elsewhere, page };
}

const cases = {
  async "an operation is shown, a quote is sent, and nothing leaves the host"() {
    const { context, elsewhere, page } = await open({ viewport: { width: 1440, height: 900 } });
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
    const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, colorScheme: "dark" };
    const { context, elsewhere, page } = await open(phone);
    const [wanted, there] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert.ok(wanted <= there, `the page is ${wanted} px wide in a window of ${there} px`);
    const brightness = await page.evaluate(() => {
      const [red, green, blue] = getComputedStyle(document.body).backgroundColor.match(/[\d.]+/g).map(Number);
      return (red + green + blue) / 3;
    });
    assert.ok(brightness < 100, `the background's brightness is ${brightness}`);
    await page.screenshot({ path: join(SCREENSHOTS, "docs-phone.png") });
    assert.deepEqual(elsewhere, []);
    await context.close();
  },
};

let failed = 0;
for (const [name, run] of Object.entries(cases)) {
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
console.log(JSON.stringify({ cases: Object.keys(cases).length, failed }));
await browser.close();
process.exit(failed ? 1 : 0);
