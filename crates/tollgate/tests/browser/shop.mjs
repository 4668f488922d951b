// A merchant's shop on a port of its own: a page with the embedded component, under the policy that Tollgate generates for it, its
// backend, and the pages a hosted checkout comes back to.

import { readFileSync } from "node:fs";
import { createServer } from "node:http";

const FILES = {
  "/shop.css": ["shop.css", "text/css"],
  "/shop.js": ["shop.js", "text/javascript"],
};
const LANDINGS = { "/thanks": "Thank you for your order", "/back": "Your basket is still here" };
const ITEM = "Two paperbacks";

export class Shop {
  // What came of every visit to the page, by the number of its order.
  orders = [];

  constructor(backend) {
    this.backend = backend;
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
    const { pathname, searchParams } = new URL(request.url, this.url);
    const send = (kind, text, headers = {}) => {
      response.writeHead(200, { "content-type": `${kind}; charset=utf-8`, ...headers });
      response.end(text);
    };
    if (pathname === "/") {
      return send("text/html", file("shop.html"), await this.policy(searchParams.get("adapter")));
    }
    if (FILES[pathname]) {
      const [name, kind] = FILES[pathname];
      return send(kind, file(name));
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

  // The headers for a page with an adapter's card fields, to which the shop adds its icon. A payer who comes back from the bank meets no
  // fields.
  async policy(adapter) {
    const pages = await this.backend.paymentPages();
    const { contentSecurityPolicy, reportingEndpoints } = pages.find((page) => page.adapter === adapter) ?? pages[0];
    // Browsers know the endpoints of `report-to` with https only, and then take no notice of `report-uri`.
    const policy = contentSecurityPolicy.replace("img-src 'self'", "img-src 'self' data:").replace("; report-to tollgate", "");
    return { "content-security-policy": policy, "reporting-endpoints": reportingEndpoints };
  }

  // Of what the service answers, the browser gets the component, the total and the currency.
  async order({ acquirer, amountMinor }) {
    const metadata = acquirer ? { acquirer } : undefined;
    const prepared = await this.backend.prepareComponent({ amountMinor, description: ITEM, metadata });
    this.orders.push({ reference: prepared.serviceReference, component: prepared.component, confirmed: [] });
    const { component, currency, totalDebitMinor } = prepared;
    return { number: this.orders.length - 1, item: ITEM, component, currency, totalDebitMinor };
  }
}

function file(name) {
  return readFileSync(new URL(name, import.meta.url), "utf8");
}

async function text(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString();
}
