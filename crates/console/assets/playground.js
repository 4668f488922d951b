// Each flow makes the same calls a caller's backend and page would make, and shows them.

import { CardError, mount } from "/tollgate.js";

const notes = JSON.parse(document.getElementById("notes").textContent);
const $ = (id) => document.getElementById(id);

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "on") for (const [event, act] of Object.entries(value)) made.addEventListener(event, act);
    else if (value !== undefined && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

// ---------------------------------------------------------------- calls

function curl(method, path, body, key) {
  const lines = [`curl -X ${method} ${location.origin}${path}`, `-H 'Authorization: Bearer ${key}'`];
  if (body !== undefined) {
    lines.push("-H 'Content-Type: application/json'");
    lines.push(`-d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`);
  }
  return lines.join(" \\\n  ");
}

async function call(method, path, body, key = notes.secretKey) {
  const started = performance.now();
  const response = await fetch(path, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await response.text();
  let answer = text;
  try { answer = JSON.parse(text); } catch { /* shown as it came */ }
  show(method, path, body, key, response, answer, Math.round(performance.now() - started));
  return { ok: response.ok, status: response.status, data: answer?.data, answer };
}

function show(method, path, body, key, response, answer, took) {
  const tone = response.ok ? "good" : "bad";
  const replayed = response.headers.get("idempotent-replayed") ? [element("span", { class: "badge cool" }, "replayed")] : [];
  const command = curl(method, path, body, key);
  const copy = element("button", { type: "button", class: "quiet", on: { click: async () => {
    await navigator.clipboard.writeText(command);
    copy.textContent = "Copied";
    setTimeout(() => { copy.textContent = "Copy curl"; }, 1500);
  } } }, "Copy curl");
  const asked = body === undefined ? [] :
    [element("details", {}, element("summary", {}, "Request"), element("pre", { tabindex: 0 }, JSON.stringify(body, null, 2)))];
  const card = element("article", { class: "call" },
    element("header", {},
      element("span", { class: `badge ${tone}` }, String(response.status)),
      element("b", { class: "mono" }, `${method} ${path}`),
      element("span", { class: "hint" }, `${took} ms, ${response.headers.get("request-id") ?? "no id"}`),
      ...replayed, copy),
    ...asked,
    element("details", { open: true }, element("summary", {}, "Response"),
      element("pre", { tabindex: 0 }, typeof answer === "string" ? answer : JSON.stringify(answer, null, 2))),
    element("details", {}, element("summary", {}, "curl"), element("pre", { tabindex: 0 }, command)));
  const calls = $("calls");
  calls.querySelector(".none")?.remove();
  for (const older of calls.querySelectorAll(":scope > article details[open]")) older.open = false;
  calls.prepend(card);
  while (calls.children.length > 30) calls.lastChild.remove();
}

// ---------------------------------------------------------------- what happens

const seen = new Set();
let last = "";

function tell(direction, at, title, detail, key) {
  if (seen.has(key)) return;
  seen.add(key);
  const feed = $("feed");
  feed.prepend(element("li", {},
    element("time", { datetime: at }, at.slice(11, 23)),
    element("span", { class: `badge ${direction === "in" ? "cool" : "good"}` }, direction),
    element("b", {}, title),
    element("span", { class: "mono" }, ...detail)));
  while (feed.children.length > 100) feed.lastChild.remove();
}

async function listen() {
  try {
    const response = await fetch(`/playground/feed?after=${last}`);
    const { events, webhooks } = await response.json();
    const all = [
      ...webhooks.map((one) => ({ at: one.at, tell: () => tell("in", one.at, one.type, [`${one.provider}, ${one.state}`], `in ${one.id}`) })),
      ...events.map((one) => ({ at: one.at, tell: () => {
        if (!one.reference) { tell("out", one.at, one.type, [], `out ${one.id}`); return; }
        const link = element("a", { href: `/console/${notes.environmentId}/payments/${one.reference}`, target: "_blank" }, one.reference);
        tell("out", one.at, one.type, [link], `out ${one.id}`);
      } })),
    ];
    all.sort((one, other) => (one.at < other.at ? -1 : 1)).forEach((one) => one.tell());
    if (events.length) last = events.at(-1).id;
  } catch { /* the sandbox may be restarting */ }
  setTimeout(listen, document.hidden ? 5000 : 1000);
}

// ---------------------------------------------------------------- cards

// The test numbers that the provider and its simulator both know.
const CARDS = {
  card_provider_a_payment_element: "4242 4242 4242 4242 is paid, 4000 0566 5566 5556 is a debit card, 4000 0000 0000 0002 is declined.",
  card_provider_b_web_payments: "4111 1111 1111 1111 is paid, 4000 0000 0000 0002 is declined.",
  card_provider_c_drop_in: "4111 1111 1111 1111 is paid, 4000 0000 0000 0002 is declined, 5454 5454 5454 5454 asks for a password.",
};

async function drawComponent(prepared) {
  const problem = element("p", { role: "alert" });
  const button = element("button", { class: "primary" }, `Pay ${prepared.component.amount} ${prepared.currency}`);
  const form = element("form", { class: "stack pay", novalidate: true }, element("div"), problem, button);
  $("stage").replaceChildren(
    // What a card fee can come to is said before a card is entered.
    ...(prepared.feeDecision ? [element("p", { id: "notice" }, prepared.feeDecision.disclosure)] : []),
    element("p", { class: "hint" }, `${CARDS[prepared.component.type]} Any later date and any code will do.`), form);
  const card = await mount(form.querySelector("div"), prepared, { billingContact: { givenName: "Pat", familyName: "Doe" } });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    problem.textContent = "";
    try {
      let message;
      const confirmed = await card.pay({
        show: (token, changed) => showFee(prepared, token, changed),
        async pay(confirmation) {
          const { data, answer } = await call("POST", `/client/v1/payments/component/${prepared.serviceReference}/confirm`, confirmation);
          message = answer?.message;
          return data ?? answer?.error ?? {};
        },
      });
      if (confirmed === null) return;
      const transaction = confirmed.transaction;
      if (!transaction) { problem.textContent = message ?? "It could not be confirmed."; return; }
      if (transaction.status === "failed") { problem.textContent = `${transaction.failure.message} Try another card.`; return; }
      finished(transaction);
    } catch (error) {
      if (!(error instanceof CardError)) throw error;
      problem.textContent = error.message;
    } finally { button.disabled = false; }
  });
}

// Resolves with the total that the payer agrees to, or with null if they go back.
async function showFee(prepared, confirmationToken, changed) {
  const path = `/client/v1/payments/component/${prepared.serviceReference}/card`;
  const decided = changed ?? (await call("POST", path, { confirmationToken })).data;
  if (!decided) throw new CardError("The fee for this card could not be decided.");
  const agree = element("button", { type: "button", class: "primary", id: "agree" }, "Pay");
  const back = element("button", { type: "button", id: "back" }, "Use another card");
  const panel = element("div", { class: "stack", id: "fee", role: "group", "aria-label": "Fee" },
    element("p", {}, decided.feeDecision.disclosure), element("div", { class: "actions" }, agree, back));
  $("stage").append(panel);
  agree.focus();
  return new Promise((resolve) => {
    const end = (total) => () => { panel.remove(); resolve(total); };
    agree.addEventListener("click", end(decided.totalDebitMinor));
    back.addEventListener("click", end(null));
  });
}

function finished(transaction) {
  $("stage").replaceChildren(
    element("p", {}, "The transaction is ", element("b", { id: "outcome" }, transaction.status), ". ",
      element("a", { href: `/console/${notes.environmentId}/payments/${transaction.serviceReference}`, target: "_blank" }, "Look at it in the console")));
}

async function watch(reference, until) {
  for (let round = 0; round < 120; round += 1) {
    await new Promise((done) => setTimeout(done, 1000));
    const response = await fetch(`/client/v1/transactions/${reference}`, { headers: { authorization: `Bearer ${notes.secretKey}` } });
    if (!response.ok) continue;
    const { data } = await response.json();
    if (until(data.status)) { await call("GET", `/client/v1/transactions/${reference}`); finished(data); return; }
  }
}

// ---------------------------------------------------------------- flows

const amount = (value) => ({ name: "amountMinor", label: "Amount in minor units", value });
const currency = { name: "currency", label: "Currency", value: "USD" };
// A rule sends payments with this metadata to the third provider.
const acquirer = { name: "acquirer", label: "Card provider", options: ["by amount", "c"] };
const order = ({ acquirer, ...values }) => ({ ...values, description: "Playground order", ...(acquirer === "c" ? { metadata: { acquirer } } : {}) });
let token = null;

const FLOWS = [
  {
    name: "Fee quote",
    about: "What a payment would cost and where it would go. From 100000 minor units on, a rule sends cards to the second provider.",
    fields: [amount("12500"), currency, { name: "paymentMethod", label: "Method", options: ["web_card", "ach"] }],
    action: "Quote",
    async run(values) { await call("POST", "/client/v1/fees/quote", values); },
  },
  {
    name: "Hosted checkout",
    about: "The provider's own page takes the card. Its webhook tells Tollgate, Tollgate tells you.",
    fields: [amount("12500"), currency, acquirer],
    action: "Prepare",
    async run(values) {
      const { ok, data } = await call("POST", "/client/v1/payments", order(values), notes.publishableKey);
      if (!ok) return;
      $("stage").replaceChildren(
        element("p", {}, element("a", { class: "button primary", href: data.checkoutUrl, target: "_blank", id: "checkout" }, "Open the provider's page"),
          " Pay there and come back: this page notices."));
      watch(data.serviceReference, (status) => status === "succeeded" || status === "failed");
    },
  },
  {
    name: "Embedded component",
    about: "The card's fields stand on your own page; your backend confirms. 100000 and more goes to the other provider's component. "
      + "Where the fee has a kind, the card decides it: say in which state the payer is.",
    fields: [amount("12500"), currency, { name: "state", label: "Payer's US state", value: "", optional: true }, acquirer],
    action: "Prepare",
    async run({ state, ...values }) {
      const payer = state ? { payer: { country: "US", state } } : {};
      const { ok, data } = await call("POST", "/client/v1/payments/component", { ...order(values), ...payer }, notes.publishableKey);
      if (ok) await drawComponent(data);
    },
  },
  {
    name: "ACH transfer",
    about: "A customer token, a preview and a transfer out of the wallet. Left alone it settles after ten seconds.",
    fields: [amount("25000"), { name: "speed", label: "Speed", options: ["standard", "same_day"] },
      { name: "routingNumber", label: "Routing number", value: "110000000" }, { name: "accountNumber", label: "Account number", value: "000123456789" }],
    action: "Send",
    async run({ amountMinor, speed, routingNumber, accountNumber }) {
      if (!token) {
        const made = await call("POST", "/client/v1/ach/customer-tokens", {
          externalCustomerId: "playground-1", email: "customer@example.com", firstName: "Pat", lastName: "Doe" });
        if (!made.ok) return;
        token = made.data.customerToken;
      }
      const metadata = speed === "same_day" ? { speed } : {};
      const preview = await call("POST", "/client/v1/ach/transfers/preview", { amountMinor, currency: "USD", metadata });
      if (!preview.ok) return;
      const body = {
        idempotencyKey: `playground-${crypto.randomUUID()}`, amountMinor, currency: "USD", customerToken: token, metadata,
        routingNumber, accountNumber, bankAccountType: "checking", bankName: "Example Bank", accountName: "Pat Doe" };
      const sent = await call("POST", "/client/v1/ach/transfers", body);
      if (!sent.ok) return;
      const reference = sent.data.serviceReference ?? sent.data.transaction?.serviceReference;
      const act = (title, act) => element("button", { type: "button", on: { click: act } }, title);
      const bank = async (verb, body) => {
        const { data } = await call("GET", `/client/v1/transactions/${reference}`);
        if (data?.providerReference) await call("POST", `/simulator/increase/simulations/ach_transfers/${data.providerReference}/${verb}`, body, notes.bankKey);
      };
      $("stage").replaceChildren(element("div", { class: "actions" },
        act("Send the same request again", () => call("POST", "/client/v1/ach/transfers", body)),
        act("Let it arrive", () => bank("settle", {})),
        act("Let the bank return it", () => bank("return", { reason: "no_account" })),
        act("Wallet", () => call("GET", "/client/v1/wallet"))));
    },
  },
  {
    name: "Read back",
    about: "What is stored: the latest transactions, or one by its reference.",
    fields: [{ name: "reference", label: "Reference (empty for the latest)", value: "", optional: true }],
    action: "Read",
    async run({ reference }) {
      await call("GET", reference ? `/client/v1/transactions/${encodeURIComponent(reference)}` : "/client/v1/transactions?limit=5");
    },
  },
];

function choose(flow) {
  for (const tab of $("flows").children) tab.setAttribute("aria-selected", String(tab.textContent === flow.name));
  $("about").textContent = flow.about;
  $("stage").replaceChildren();
  const fields = flow.fields.map((field) => element("label", { class: field.options ? "" : "long" }, field.label,
    field.options
      ? element("select", { name: field.name }, ...field.options.map((option) => element("option", {}, option)))
      : element("input", { name: field.name, value: field.value, required: !field.optional })));
  const button = element("button", { class: "primary" }, flow.action);
  $("ask").replaceChildren(...fields, button);
  $("ask").onsubmit = async (event) => {
    event.preventDefault();
    button.disabled = true;
    $("stage").replaceChildren();
    try { await flow.run(Object.fromEntries(new FormData($("ask")))); } finally { button.disabled = false; }
  };
}

for (const flow of FLOWS) {
  $("flows").append(element("button", { type: "button", role: "tab", on: { click: () => choose(flow) } }, flow.name));
}
choose(FLOWS[0]);
listen();
