// A merchant's backend, the only place that knows the secret key, and an operator's look behind it.

import assert from "node:assert/strict";

export class Backend {
  constructor({ adminToken, baseUrl, environmentId, secretKey }) {
    Object.assign(this, { adminToken, baseUrl, environmentId, secretKey });
  }

  async call(method, path, body) {
    const credential = path.startsWith("/admin/") ? this.adminToken : this.secretKey;
    const response = await fetch(this.baseUrl + path, {
      method,
      headers: { authorization: `Bearer ${credential}`, "content-type": "application/json" },
      body: body && JSON.stringify(body),
    });
    return { status: response.status, json: await response.json() };
  }

  async data(status, method, path, body) {
    const answer = await this.call(method, path, body);
    assert.equal(answer.status, status, `${method} ${path}: ${JSON.stringify(answer.json)}`);
    return answer.json.data;
  }

  prepareHosted(request) {
    return this.data(201, "POST", "/client/v1/payments", { currency: "USD", ...request });
  }

  prepareComponent(request) {
    return this.data(201, "POST", "/client/v1/payments/component", { currency: "USD", ...request });
  }

  confirm(reference, body) {
    return this.data(200, "POST", `/client/v1/payments/component/${reference}/confirm`, body);
  }

  payment(reference) {
    return this.data(200, "GET", `/client/v1/payments/${reference}`);
  }

  // What each provider's card fields bring along, the policy for their page, and what browsers reported of it.
  async paymentPages() {
    const path = `/admin/v1/environments/${this.environmentId}/payment-pages`;
    return (await this.data(200, "GET", path)).items;
  }

  // The transaction's status, or null while there is none.
  async status(reference) {
    const { status, json } = await this.call("GET", `/client/v1/transactions/${reference}`);
    if (status === 404) return null;
    assert.equal(status, 200, JSON.stringify(json));
    return json.data.status;
  }

  // Whether it was a webhook of the provider's that made the transaction this.
  async isByWebhook(reference, status) {
    const path = `/admin/v1/environments/${this.environmentId}/transactions/${reference}`;
    const { timeline } = await this.data(200, "GET", path);
    const step = timeline.find(({ detail, kind }) => kind === "status" && detail.to === status);
    return timeline.some(({ kind, requestId }) => kind === "webhook" && requestId === step?.requestId);
  }

  // Waits for the transaction to become this.
  async reaches(reference, wanted) {
    const deadline = Date.now() + 60_000;
    let seen;
    while ((seen = await this.status(reference)) !== wanted) {
      assert.ok(Date.now() < deadline, `the transaction is ${seen}, not ${wanted}`);
      await new Promise((done) => setTimeout(done, 50));
    }
  }
}
