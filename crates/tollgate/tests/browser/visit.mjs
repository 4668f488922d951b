// One case in the browser, and what is looked at on every page it meets.

import assert from "node:assert/strict";
import { join } from "node:path";

const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true };
const DESKTOP = { viewport: { width: 1280, height: 900 } };
const NARROWEST = { width: 360, height: 740 };
const TABS_MAX = 20;

// Two windows, a desktop's and a phone's: opening one costs more than a whole case. Nothing here is kept in a browser
// between pages, so that cases do not hear of each other.
export class Windows {
  #pages = {};

  constructor(browser) {
    this.browser = browser;
  }

  async page(phone) {
    return (this.#pages[phone] ??= await this.#open(phone));
  }

  // Forgets both windows, with whatever a case that failed is still doing there.
  async close() {
    const pages = Object.values(this.#pages);
    this.#pages = {};
    await Promise.all(pages.map((page) => page.context().close().catch(() => {})));
  }

  async #open(phone) {
    const context = await this.browser.newContext({ ...(phone ? PHONE : DESKTOP), reducedMotion: "reduce" });
    context.setDefaultTimeout(45_000);
    return context.newPage();
  }
}

export class Visit {
  checks = [];
  faults = [];

  constructor({ name, run, declines = false, hand = "mouse", phone = false, scheme = "light", skimmed = false }, tools) {
    Object.assign(this, { name, steps: run, declines, hand, phone, scheme, skimmed }, tools);
  }

  async run() {
    this.page = await this.windows.page(this.phone);
    const context = this.page.context();
    await context.route("**/*", (route) => this.guard(route));
    const hear = (message) => this.hear(message);
    const trip = (error) => this.faults.push(`an error in the page: ${error.error()}`);
    const miss = (request) => this.miss(request);
    context.on("console", hear).on("weberror", trip).on("requestfailed", miss);
    await this.page.emulateMedia({ colorScheme: this.scheme });
    await this.steps(this);
    assert.deepEqual([await context.cookies(), this.faults], [[], []]);
    await this.page.goto("about:blank");
    context.off("console", hear).off("weberror", trip).off("requestfailed", miss);
    await context.unrouteAll();
  }

  // Nothing but this machine is asked for anything.
  guard(route) {
    const url = new URL(route.request().url());
    if (url.hostname === "127.0.0.1" || url.protocol === "data:") return route.continue();
    this.faults.push(`a request to another host: ${url}`);
    return route.abort();
  }

  // The browser notes every answer that is no success; where a card is declined, that is how the wire says so.
  hear(message) {
    if (!["error", "warning"].includes(message.type())) return;
    if (this.declines && message.text().includes("status of 402")) return;
    if (this.skimmed && /skim\.js.*Content Security Policy/s.test(message.text())) return;
    this.faults.push(`in the console: ${message.text()} (${message.location().url})`);
  }

  miss(request) {
    const [url, reason] = [request.url(), request.failure()?.errorText];
    // The script is not asked for, and no page may read what its report is answered.
    if (this.skimmed && url.endsWith("/skim.js") && reason === "csp") return;
    if (this.skimmed && url.includes("/csp-reports/") && reason === "net::ERR_BLOCKED_BY_ORB") return;
    this.faults.push(`${url}: ${reason}`);
  }

  open(url) {
    return this.page.goto(url);
  }

  async arrives(url) {
    await this.page.waitForURL((now) => now.href.split("?")[0] === url);
    assert.ok(await this.page.title(), `${url} has no title`);
    this.checks.push(`arrived at ${new URL(url).pathname}`);
  }

  // Goes to a field or a button as this customer does.
  async reach(target) {
    if (this.hand === "mouse") return target.click();
    if (this.hand === "touch") return target.tap();
    for (let tabs = 0; tabs < TABS_MAX; tabs += 1) {
      if (await target.evaluate((element) => element.getRootNode().activeElement === element)) return undefined;
      await this.page.keyboard.press("Tab");
      const { outline, where } = await this.focused();
      assert.ok(outline, `the focus cannot be seen on ${where}`);
    }
    throw new Error(`${target} is not reached by the Tab key`);
  }

  async press(target) {
    if (this.hand !== "keys") return this.reach(target);
    await this.reach(target);
    return this.page.keyboard.press("Enter");
  }

  // What has the focus, also within a component, and whether one can see it.
  focused() {
    return this.page.evaluate(() => {
      let element = document.activeElement;
      while (element.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
      const { outlineStyle, outlineWidth } = getComputedStyle(element);
      const outline = element === document.body || (outlineStyle !== "none" && parseFloat(outlineWidth) >= 2);
      return { outline, where: element.outerHTML.slice(0, 120) };
    });
  }

  async type(label, text) {
    const field = this.page.getByLabel(label);
    await this.reach(field);
    await this.page.keyboard.press("ControlOrMeta+a");
    await this.page.keyboard.type(text);
  }

  // Fills the card form, in a hosted page or in a component, and pays: by the button, or with Enter in the last field.
  async pay(number, { expiry = "1234", code = "123" } = {}) {
    await this.type("Card number", number);
    await this.type("Expiry", expiry);
    await this.type("Security code", code);
    if (this.hand === "keys") return this.page.keyboard.press("Enter");
    return this.press(this.page.getByRole("button", { name: /^Pay \D?[\d,]+\.\d\d/ }));
  }

  // A decline is said near the form, and the focus goes there.
  async isTold(text) {
    const alert = this.page.getByRole("alert").filter({ hasText: text });
    await alert.and(this.page.locator(":focus")).waitFor();
    assert.ok((await this.focused()).outline, "the focus cannot be seen on the problem");
    const [said, form] = await Promise.all([alert.boundingBox(), this.page.locator("form").boundingBox()]);
    const gap = Math.max(form.y - (said.y + said.height), said.y - (form.y + form.height), 0);
    assert.ok(gap < 40, `the problem is ${gap} px from the form`);
    await this.shoot("problem");
    this.checks.push(`told: ${text}`);
  }

  // A mistake is marked at its field.
  async isAskedToCorrect(label, text) {
    const field = this.page.getByLabel(label);
    await field.and(this.page.locator("[aria-invalid=true]")).waitFor();
    const described = await field.evaluate((element) => {
      return element.getRootNode().getElementById(element.getAttribute("aria-describedby"))?.textContent;
    });
    assert.match(described, text);
    this.checks.push(`asked to correct: ${label}`);
  }

  // Only where somebody asks for pictures.
  async shoot(what) {
    if (!process.env.TOLLGATE_TEST_PICTURES) return;
    const path = join(this.screenshots, `${this.name} ${what}`.replace(/[^a-z0-9]+/gi, "-") + ".png");
    await this.page.screenshot({ path, fullPage: true });
  }

  // A page as it is now, in both color schemes and down to a narrow phone.
  async inspect(what) {
    assert.ok(await this.page.title(), "the page has no title");
    for (const input of await this.page.locator("input").all()) {
      const name = await input.getAttribute("name");
      assert.ok(await input.evaluate((element) => element.labels.length === 1), `the label of ${name}`);
      assert.equal(await input.getAttribute("inputmode"), "numeric", `inputmode of ${name}`);
      const autocomplete = (await input.getAttribute("autocomplete")) ?? "";
      assert.match(autocomplete, /^cc-(number|exp|csc)$/, `autocomplete of ${name}`);
    }
    for (const details of await this.page.locator("details").all()) {
      await details.evaluate((element) => element.setAttribute("open", ""));
    }
    for (const colorScheme of ["light", "dark"]) {
      await this.page.emulateMedia({ colorScheme });
      await this.page.evaluate(`window.axe || (() => { ${this.axe} })()`);
      const violations = await this.page.evaluate(judge, colorScheme === "light" ? null : ["color-contrast"]);
      assert.deepEqual(violations, [], `${what}, ${colorScheme}`);
      await this.shoot(`${what} ${colorScheme}`);
    }
    await this.page.setViewportSize(NARROWEST);
    const [wanted, there] = await this.page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert.ok(wanted <= there, `${what} is ${wanted} px wide in a window of ${there} px`);
    await this.shoot(`${what} narrow`);
    await this.page.setViewportSize((this.phone ? PHONE : DESKTOP).viewport);
    await this.page.emulateMedia({ colorScheme: this.scheme });
    this.checks.push(`inspected: ${what}`);
  }
}

// Runs in the page: what axe finds wrong, contrast and labels among it, or by some of its rules only.
async function judge(rules) {
  const { violations } = await window.axe.run(document, rules ? { runOnly: rules } : {});
  return violations.map(({ help, id, nodes }) => `${id}: ${help}: ${nodes.map((node) => node.html).join(" | ")}`);
}
