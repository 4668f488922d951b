// What the tests share: the sandbox they run against, and a network in between that can fail.

import { readFileSync } from "node:fs";
import { createServer, request as forward } from "node:http";

export const notes = JSON.parse(readFileSync(process.env.TOLLGATE_NOTES, "utf8"));

/** The operator's side, which the SDK does not have. */
export async function admin(method, path, body) {
  const response = await fetch(`${notes.baseUrl}/admin/v1/environments/${notes.environmentId}${path}`, {
    method,
    headers: { authorization: `Bearer ${notes.adminToken}`, "content-type": "application/json" },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const answer = await response.json();
  if (!answer.success) throw new Error(answer.message);
  return answer.data;
}

/** The simulated provider's browser, without a browser: a card for a payment that is prepared. */
export async function payIntent({ clientSecret, paymentIntentId, publishableKey }, card = "pm_card_visa") {
  const body = new URLSearchParams({ client_secret: clientSecret, payment_method: card, return_url: "http://127.0.0.1/" });
  const url = `${notes.simulators.stripe.baseUrl}/v1/payment_intents/${paymentIntentId}/confirm`;
  await fetch(url, { method: "POST", headers: { authorization: `Bearer ${publishableKey}` }, body });
}

/**
 * A proxy in front of the sandbox. For each request it takes the next of `plan`: "pass", "drop" (before the sandbox sees
 * it), "lose" (the sandbox answers, the answer is lost), "stall" (no answer at all), or an answer of its own.
 */
export async function proxy(plan) {
  const seen = [];
  const server = createServer((request, response) => {
    const step = plan[seen.length] ?? "pass";
    const { method, url, headers } = request;
    seen.push({ method, url, key: headers["idempotency-key"] });
    if (step === "stall") return;
    if (step === "drop") return void request.socket.destroy();
    if (typeof step === "object") {
      response.writeHead(step.status, { "content-type": "application/json", ...step.headers });
      return void response.end(step.body ?? "");
    }
    const onward = forward(new URL(url, notes.baseUrl), { method, headers }, (answer) => {
      if (step === "lose") {
        answer.resume();
        return void answer.on("end", () => request.socket.destroy());
      }
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    request.pipe(onward);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { baseUrl: `http://127.0.0.1:${server.address().port}`, seen, close };
}

/** Receives webhooks and keeps them as they came. */
export async function receiver() {
  const deliveries = [];
  let notify = () => {};
  const server = createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    deliveries.push({ headers: request.headers, body: Buffer.concat(parts) });
    response.writeHead(204).end();
    notify();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/events`,
    async next(isIt) {
      for (;;) {
        const found = deliveries.find(isIt);
        if (found) return found;
        await new Promise((resolve) => (notify = resolve));
      }
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
