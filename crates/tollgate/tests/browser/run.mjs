// Pays by card in a real browser, the way a customer does, and prints one line of JSON for every case.
//
// TOLLGATE_NOTES: the running sandbox's `sandbox.json`. CHROMIUM: the browser's program. MODULES: where the packages of
// package.json are installed. SCREENSHOTS: a folder for pictures of every page. Arguments, where there are any, pick
// cases by a part of their name. The program ends when its input does, and takes the browser along.

import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Backend } from "./backend.mjs";
import { cases } from "./cases.mjs";
import { Shop } from "./shop.mjs";
import { Visit, Windows } from "./visit.mjs";

const CASE_MS_MAX = 180_000;

const { CHROMIUM, MODULES, SCREENSHOTS, TOLLGATE_NOTES } = process.env;
const require = createRequire(join(MODULES, "package.json"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

process.stdin.on("end", () => process.exit(1)).resume();
mkdirSync(SCREENSHOTS, { recursive: true });

const notes = JSON.parse(readFileSync(TOLLGATE_NOTES, "utf8"));
const backend = new Backend(notes);
const shop = new Shop(backend);
await shop.listen();
const browser = await chromium.launch({
  executablePath: CHROMIUM,
  // Whatever a page or the browser itself asks for elsewhere has no address.
  // Without a graphics card drawing by way of one is emulated, which takes most of the machine.
  args: ["--disable-gpu", "--disable-gpu-rasterization", "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"],
});

const windows = new Windows(browser);
const wanted = process.argv.slice(2);
let [done, failed] = [0, 0];
for (const each of cases) {
  if (wanted.length && !wanted.some((part) => each.name.includes(part))) continue;
  const started = Date.now();
  const visit = new Visit(each, { axe, backend, screenshots: SCREENSHOTS, shop, windows });
  let timer;
  const late = new Promise((_, refuse) => {
    timer = setTimeout(() => refuse(new Error(`not done within ${CASE_MS_MAX} ms`)), CASE_MS_MAX);
  });
  let error = null;
  try {
    await Promise.race([visit.run(), late]);
  } catch (caught) {
    error = String(caught?.stack ?? caught);
    failed += 1;
    await visit.page?.screenshot({ path: join(SCREENSHOTS, `failed ${each.name}.png`) }).catch(() => {});
    await windows.close();
  }
  clearTimeout(timer);
  done += 1;
  const ms = Date.now() - started;
  console.log(JSON.stringify({ case: each.name, passed: !error, error, checks: visit.checks, ms }));
}
console.log(JSON.stringify({ cases: done, failed }));
await browser.close();
shop.close();
process.exit(failed ? 1 : 0);
