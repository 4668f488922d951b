// Signing in to the console with a real OpenID Connect issuer, which runs here, in a real browser. Prints one line of JSON
// for every case. The variables are those of `run.mjs`, and `ISSUER`, the address the server was told to trust.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const CASE_MS_MAX = 120_000;

const { CHROMIUM, ISSUER, MODULES, SCREENSHOTS, TOLLGATE_NOTES } = process.env;
const require = createRequire(join(MODULES, "package.json"));
const { chromium } = require("playwright-core");
// Standard output is for results.
console.info = console.warn = console.error;
const { default: Provider } = await import(pathToFileURL(require.resolve("oidc-provider")));

process.stdin.on("end", () => process.exit(1)).resume();
mkdirSync(SCREENSHOTS, { recursive: true });

const { adminToken, baseUrl } = JSON.parse(readFileSync(TOLLGATE_NOTES, "utf8"));

// Everybody's name at the issuer is their address; it asks for a password and accepts any.
const provider = new Provider(ISSUER, {
  clients: [{
    client_id: "console",
    client_secret: "a secret of the browser's test",
    redirect_uris: [`${baseUrl}/console/oidc/callback`],
  }],
  claims: { openid: ["sub"], email: ["email", "email_verified"] },
  cookies: { keys: ["a key of the browser's test"] },
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({ sub: id, email: id, email_verified: !id.startsWith("unverified") }),
  }),
});
const listening = provider.listen(new URL(ISSUER).port, "127.0.0.1");
await new Promise((resolve, refuse) => listening.once("listening", resolve).once("error", refuse));

const browser = await chromium.launch({
  executablePath: CHROMIUM,
  args: ["--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost"],
});

const shoot = (page, what) =>
  page.screenshot({ path: join(SCREENSHOTS, `${what.replace(/[^a-z0-9]+/gi, "-")}.png`), fullPage: true });

async function open() {
  const context = await browser.newContext({ reducedMotion: "reduce" });
  context.setDefaultTimeout(45_000);
  return context.newPage();
}

async function addUser(name, email) {
  const answer = await fetch(`${baseUrl}/admin/v1/users`, {
    method: "POST",
    headers: { authorization: `Bearer ${adminToken}`, "content-type": "application/json" },
    body: JSON.stringify({ name, email, role: "operator" }),
  });
  assert.equal(answer.status, 201);
}

// From the console's page through the issuer's.
async function signIn(page, email, wanted = "/console/environments") {
  await page.goto(`${baseUrl}${wanted}`);
  await page.getByRole("link", { name: "Sign in with single sign-on" }).click();
  await page.waitForURL(`${ISSUER}/**`);
  await page.locator("[name=login]").fill(email);
  await page.locator("[name=password]").fill("any");
  await page.locator("[type=submit]").click();
  await page.locator("[name=prompt][value=consent]").waitFor({ state: "attached" });
  await page.locator("[type=submit]").click();
}

const sessions = async (page) =>
  (await page.context().cookies()).filter(({ name }) => name === "tollgate_session");

const cases = {
  async "a user signs in with the issuer, works and signs out"() {
    await addUser("Grace Hopper", "grace@example.com");
    const page = await open();
    await page.goto(`${baseUrl}/console/sign-in`);
    await shoot(page, "sign in");
    await signIn(page, "grace@example.com");
    await page.waitForURL(`${baseUrl}/console/environments`);
    await page.getByText("Grace Hopper <grace@example.com>").first().waitFor();
    await shoot(page, "signed in");
    const [session] = await sessions(page);
    assert.deepEqual([session.httpOnly, session.sameSite, session.path], [true, "Strict", "/console"]);
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.waitForURL(/\/console\/sign-in/);
    await page.goto(`${baseUrl}/console/environments`);
    assert.match(page.url(), /\/console\/sign-in\?next=/);
  },

  async "nobody is let in who is not a user, or whose address is not verified"() {
    await addUser("Ursula", "unverified@example.com");
    for (const [email, sentence] of [
      ["eve@example.com", "no user has the address eve@example.com. Ask an admin to add you"],
      ["unverified@example.com", "unverified@example.com is not verified"],
    ]) {
      const page = await open();
      await signIn(page, email);
      await page.getByRole("alert").filter({ hasText: sentence }).waitFor();
      await shoot(page, `refused ${email}`);
      assert.deepEqual(await sessions(page), []);
    }
  },

  async "whoever cancels at the issuer is told so"() {
    const page = await open();
    await page.goto(`${baseUrl}/console`);
    await page.getByRole("link", { name: "Sign in with single sign-on" }).click();
    await page.waitForURL(`${ISSUER}/**`);
    await page.getByRole("link", { name: /cancel/i }).click();
    await page.getByRole("alert").filter({ hasText: "access_denied" }).waitFor();
  },
};

let [done, failed] = [0, 0];
for (const [name, run] of Object.entries(cases)) {
  const started = Date.now();
  let timer;
  const late = new Promise((_, refuse) => {
    timer = setTimeout(() => refuse(new Error(`not done within ${CASE_MS_MAX} ms`)), CASE_MS_MAX);
  });
  let error = null;
  try {
    await Promise.race([run(), late]);
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
