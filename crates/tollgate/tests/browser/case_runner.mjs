// What every script of cases needs: the browser, pictures, and a loop that prints one line of JSON for every case.
// The variables are those of `run.mjs`. The program ends when its input does, and takes the browser along.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const { CHROMIUM, MODULES, SCREENSHOTS, TOLLGATE_NOTES } = process.env;
export const require = createRequire(join(MODULES, "package.json"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

process.stdin.on("end", () => process.exit(1)).resume();
mkdirSync(SCREENSHOTS, { recursive: true });

export const notes = JSON.parse(readFileSync(TOLLGATE_NOTES, "utf8"));
export const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true };

// Whatever a page or the browser itself asks for elsewhere has no address.
export const browser = await chromium.launch({
  executablePath: CHROMIUM,
  // Without a graphics card drawing by way of one is emulated, which takes most of the machine.
  args: ["--disable-gpu", "--disable-gpu-rasterization", "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost"],
});

// A picture of the page for people to look at. Drawing pages as long as these takes the browser longer than everything else
// on them, so that it is only done where somebody asks for it.
export async function shoot(page, what, fullPage = true) {
  if (process.env.TOLLGATE_TEST_PICTURES) await picture(page, what, fullPage);
}

// A picture of the page: all of it, up to a height that the browser can draw.
export async function picture(page, what, fullPage = true) {
  const path = join(SCREENSHOTS, `${what.replace(/[^a-z0-9]+/gi, "-")}.png`);
  const { width } = page.viewportSize();
  const height = Math.min(6_000, await page.evaluate(() => document.documentElement.scrollHeight));
  await page.screenshot(fullPage ? { path, fullPage, clip: { x: 0, y: 0, width, height } } : { path });
}

// Runs in the page: what axe finds wrong, by all of its rules or some.
async function judge(rules) {
  const { violations } = await window.axe.run(document, rules ? { runOnly: rules } : {});
  return violations.map(({ help, id, nodes }) => `${id}: ${help}: ${nodes.slice(0, 3).map((node) => node.html).join(" | ")}`);
}

// What is wrong with a page in light and dark, with a picture of each: accessibility, and whether it fits its window.
export async function inspect(page, name, fullPage = true) {
  const found = [];
  const [wanted, there] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  if (wanted > there) found.push(`${name} is ${wanted} px wide in a window of ${there} px`);
  const wide = await page.evaluate(() => (location.pathname.startsWith("/console") ? [...document.querySelectorAll(".wide")] : []).filter((it) => it.scrollWidth > it.clientWidth + 1)
    .map((it) => `${it.getAttribute("aria-label")} is ${it.scrollWidth} px wide in a box of ${it.clientWidth} px`));
  found.push(...wide.map((what) => `${name}: ${what}`));
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    await page.evaluate(`window.axe || (() => { ${axe} })()`);
    const faults = await page.evaluate(judge, colorScheme === "light" ? null : ["color-contrast"]);
    found.push(...faults.map((fault) => `${name}, ${colorScheme}: ${fault}`));
    await shoot(page, `${name} ${colorScheme}`, fullPage);
  }
  return found;
}

// Runs the cases that the arguments pick by a part of their names, or all. What a case leaves in `faults` fails it, too.
export async function runCases(cases, msMax, faults = []) {
  const wanted = process.argv.slice(2);
  let [done, failed] = [0, 0];
  for (const [name, run] of Object.entries(cases)) {
    if (wanted.length && !wanted.some((part) => name.includes(part))) continue;
    const started = Date.now();
    faults.length = 0;
    let timer;
    const late = new Promise((_, refuse) => {
      timer = setTimeout(() => refuse(new Error(`not done within ${msMax} ms`)), msMax);
    });
    let error = null;
    try {
      await Promise.race([run(), late]);
      assert.deepEqual(faults, []);
    } catch (caught) {
      error = String(caught?.stack ?? caught);
      failed += 1;
      for (const page of browser.contexts().flatMap((context) => context.pages())) {
        await picture(page, `failed ${name}`).catch(() => {});
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
}
