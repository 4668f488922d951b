// What the scripts beside it share: the libraries, a webhook receiver, and a stand-in for the browser.

import { once } from "node:events";
import { createServer } from "node:http";
import { createRequire } from "node:module";

export const simulator = process.env.SIMULATOR;

/** A package of the folder that the test has installed. */
export const library = createRequire(`${process.env.MODULES}/package.json`);

/** Keeps what it is sent, with the headers, in order of arrival. */
export class Receiver {
  arrived = [];

  static async of(wire, secret) {
    const receiver = new Receiver();
    const server = createServer(async (request, response) => {
      const parts = [];
      for await (const part of request) parts.push(part);
      receiver.arrived.push({ headers: request.headers, body: Buffer.concat(parts).toString() });
      response.end();
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    server.unref();
    receiver.url = `http://127.0.0.1:${server.address().port}/hooks`;
    const body = JSON.stringify({ wire, url: receiver.url, secret });
    const added = await fetch(`${simulator}/control/webhooks`, { method: "POST", body });
    if (added.status !== 201) throw new Error(await added.text());
    return receiver;
  }

  take(count) {
    return this.until(() => this.arrived.length >= count);
  }

  /** Everything that has arrived, once that is enough. */
  async until(isEnough) {
    for (let waits = 0; !isEnough(this.arrived); waits += 1) {
      if (waits === 250) throw new Error(`only ${this.arrived.length} webhooks came`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return this.arrived.splice(0);
  }
}

/** Plays the browser; answers the status. Redirects are not followed. */
export async function post(url, form) {
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  return (await fetch(url, { method: "POST", body: form, headers, redirect: "manual" })).status;
}

export async function collect(pages) {
  const items = [];
  for await (const item of pages) items.push(item);
  return items;
}
