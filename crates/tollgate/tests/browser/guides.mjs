// Pays on the pages of the guides, each with its own backend, and prints one line of JSON for every case.
//
// GUIDES: a folder with a folder for each page. PAGES: their names, each with the card to pay with. The rest is as in
// run.mjs.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const { CHROMIUM, GUIDES, MODULES, PAGES, SCREENSHOTS, TOLLGATE_NOTES } = process.env;
const { chromium } = createRequire(join(MODULES, "package.json"))("playwright-core");
const DECLINED = "4000000000000002";
const ASKS_FIRST = "4000002500003155";
const ASKS_FOR_A_PASSWORD = "5454545454545454";

process.stdin.on("end", () => process.exit(1)).resume();
mkdirSync(SCREENSHOTS, { recursive: true });
const notes = JSON.parse(readFileSync(TOLLGATE_NOTES, "utf8"));
const browser = await chromium.launch({
  executablePath: CHROMIUM,
  // Without a graphics card drawing by way of one is emulated, which takes most of the machine.
  args: ["--disable-gpu", "--disable-gpu-rasterization", "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"],
});

// A guide's backend on a port of its own; resolves with its address.
function serve(guide) {
  const child = spawn("node", ["server.mjs"], {
    cwd: join(GUIDES, guide),
    env: { ...process.env, PORT: "0", TOLLGATE_URL: notes.baseUrl, TOLLGATE_KEY: notes.secretKey },
    stdio: ["ignore", "pipe", "inherit"],
  });
  process.on("exit", () => child.kill());
  return new Promise((resolve) => child.stdout.once("data", (line) => resolve(String(line).trim())));
}

async function pay(page, card) {
  await page.getByLabel("Card number").fill(card);
  await page.getByLabel(/Expir/).fill("12/34");
  await page.getByLabel(/code/i).fill("123");
  await page.getByRole("button", { name: /^Pay/ }).click();
}

const cases = [];
for (const [guide, card] of PAGES.split(",").map((one) => one.split("="))) {
  const url = serve(guide);
  const outcome = (page) => page.locator("#outcome");
  cases.push([`${guide}: paid`, async (page) => {
    await page.goto(await url);
    await pay(page, card);
    await outcome(page).filter({ hasText: "succeeded" }).waitFor();
  }]);
  cases.push([`${guide}: declined, then paid`, async (page) => {
    await page.goto(await url);
    await pay(page, DECLINED);
    await page.locator("#problem").filter({ hasText: /declined/i }).waitFor();
    await pay(page, card);
    await outcome(page).filter({ hasText: "succeeded" }).waitFor();
  }]);
  if (guide.startsWith("adyen")) {
    for (const [password, result] of [["password", "succeeded"], ["another", "declined"]]) {
      cases.push([`${guide}: the bank asks for a password, ${password}`, async (page) => {
        await page.goto(await url);
        await pay(page, ASKS_FOR_A_PASSWORD);
        await page.getByLabel(/password/).fill(password);
        await page.getByRole("button", { name: "Confirm" }).click();
        const shown = result === "succeeded" ? outcome(page) : page.locator("#problem");
        await shown.filter({ hasText: new RegExp(result, "i") }).waitFor();
      }]);
    }
  }
  if (guide.startsWith("stripe")) {
    cases.push([`${guide}: the bank asks first`, async (page) => {
      await page.goto(await url);
      await pay(page, ASKS_FIRST);
      await page.getByRole("button", { name: "Confirm" }).click();
      await outcome(page).filter({ hasText: "succeeded" }).waitFor();
      assert.ok(page.url().startsWith(await url), page.url());
    }]);
  }
}

let failed = 0;
for (const [name, run] of cases) {
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
  }
  await page.screenshot({ path: join(SCREENSHOTS, `${name.replaceAll(/[^a-z]+/g, "-")}.png`) }).catch(() => {});
  await context.close();
  console.log(JSON.stringify({ case: name, passed: !error, error, ms: Date.now() - started }));
}
console.log(JSON.stringify({ cases: cases.length, failed }));
process.exit(0);
