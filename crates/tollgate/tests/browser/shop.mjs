// A merchant's shop on a port of its own: a page with the embedded component, its backend, and the pages a hosted
// checkout comes back to.

import { readFileSync } from "node:fs";
import { createServer } from "node:http";

const FILES = {
  "/": ["shop.html", "text/html"],
  "/shop.css": ["shop.css", "text/css"],
  "/shop.js": ["shop.js", "text/javascript"],
};
const LANDINGS = { "/thanks": "Thank you for your order", "/back": "Your basket is still here" };
const ITEM = "Two paperbacks";

export class Shop {
  // What came of every visit to the page, by the number of its order.
  orders = [];

  constructor(backend, simulator) {
    this.backend = backend;
    this.simulator = simulator;
    this.server = createServer((request, response) => {
      this.answer(request, response).catch((error) => response.writeHead(500).end(String(error)));
    });
  }

  async listen() {
    await new Promise((done) => this.server.listen(0, "127.0.0.1", done));
    this.url = `http://127.0.0.1:${this.server.address().port}`;
  }

  close() {
    this.server.closeAllConnections();
    this.server.close();
  }

  async answer(request, response) {
    const { pathname } = new URL(request.url, this.url);
    const send = (kind, text) => {
      // As strict as a shop's policy can be: its own files, and the provider's script with the calls it makes.
      const provider = new URL(this.simulator).origin;
      response.writeHead(200, {
        "content-type": `${kind}; charset=utf-8`,
        "content-security-policy":
          `default-src 'self'; script-src 'self' ${provider}; connect-src 'self' ${provider}; img-src data:`,
      });
      response.end(text);
    };
    if (FILES[pathname]) {
      const [file, kind] = FILES[pathname];
      return send(kind, readFileSync(new URL(file, import.meta.url), "utf8"));
    }
    if (LANDINGS[pathname]) {
      const heading = LANDINGS[pathname];
      const head = `<title>${heading}</title><link rel="icon" href="data:,">`;
      return send("text/html", `<!doctype html><html lang="en">${head}<main><h1>${heading}</h1></main></html>`);
    }
    const body = JSON.parse(await text(request));
    if (pathname === "/orders") return send("application/json", JSON.stringify(await this.order(body)));
    const [, number] = pathname.match(/^\/orders\/(\d+)\/confirm$/) ?? [];
    const order = this.orders[number];
    if (!order) return response.writeHead(404).end();
    const { transaction } = await this.backend.confirm(order.reference, body);
    order.confirmed.push(transaction.status);
    return send("application/json", JSON.stringify({ status: transaction.status, failure: transaction.failure }));
  }

  // Of what the service answers, the browser gets the component, the total and the currency.
  async order({ amountMinor }) {
    const prepared = await this.backend.prepareComponent({ amountMinor, description: ITEM });
    this.orders.push({ reference: prepared.serviceReference, component: prepared.component, confirmed: [] });
    const { component, currency, totalDebitMinor } = prepared;
    return { number: this.orders.length - 1, item: ITEM, component, currency, totalDebitMinor };
  }
}

async function text(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString();
}
