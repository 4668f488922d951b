// Signing in to the console with a real OpenID Connect issuer, which runs here, in a real browser. Prints one line of JSON
// for every case. The variables are those of `run.mjs`, and `ISSUER`, the address the server was told to trust.

import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import { browser, notes, require, runCases, shoot } from "./case_runner.mjs";

const CASE_MS_MAX = 120_000;

const { ISSUER } = process.env;
// Standard output is for results.
console.info = console.warn = console.error;
const { default: Provider } = await import(pathToFileURL(require.resolve("oidc-provider")));

const { adminToken, baseUrl } = notes;

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

await runCases(cases, CASE_MS_MAX);
