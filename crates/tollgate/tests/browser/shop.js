// A shop's page. All it knows of the payment is the `component` its backend passes on.

const form = document.querySelector("#pay");
const button = form.querySelector("button");
const problem = document.querySelector("#problem");

async function post(path, body) {
  const response = await fetch(path, { method: "POST", body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
  return response.json();
}

function load(url) {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.onload = resolve;
    script.onerror = () => reject(new Error(`${url} was not loaded`));
    script.src = url;
    document.head.append(script);
  });
}

// Each draws its component and answers how to pay: what the backend confirms with, a decline to show, or null where the
// component has already shown the customer a mistake.
const DRAW = {
  async card_provider_a_payment_element(component, order) {
    const options = component.account ? { stripeAccount: component.account } : {};
    const stripe = window.Stripe(component.publishableKey, options);
    const elements = stripe.elements({ clientSecret: component.clientSecret });
    elements.create("payment").mount("#card");
    return async () => {
      const confirmParams = { return_url: `${location.origin}/?order=${order.number}` };
      const confirmation = { elements, confirmParams, redirect: "if_required" };
      const { error, paymentIntent } = await stripe.confirmPayment(confirmation);
      if (error) return error.type === "validation_error" ? null : { declined: error.message };
      return { confirm: { paymentIntentId: component.paymentIntentId, clientStatus: paymentIntent.status } };
    };
  },
  async card_provider_b_web_payments(component) {
    const payments = window.Square.payments(component.applicationId, component.locationId);
    const card = await payments.card();
    await card.attach("#card");
    return async () => {
      const { status, token } = await card.tokenize();
      if (status !== "OK") return null;
      const amount = (Number(component.amountMinor) / 100).toFixed(2);
      const buyer = { amount, currencyCode: component.currency, intent: "CHARGE", billingContact: {} };
      const verified = await payments.verifyBuyer(token, buyer);
      return { confirm: { sourceId: token, verificationToken: verified.token } };
    };
  },
  async card_provider_c_drop_in(component) {
    const { mount, CardError } = await import(`${new URL(component.scriptUrl).origin}/tollgate.js`);
    const card = await mount("#card", { component });
    return async () => {
      try {
        return { confirm: await card.submit() };
      } catch (error) {
        if (error instanceof CardError) return null;
        throw error;
      }
    };
  },
};

function say(text) {
  problem.textContent = text;
  problem.focus();
}

function thank() {
  form.hidden = true;
  document.querySelector("#thanks").hidden = false;
  document.querySelector("#thanks h2").focus();
}

async function confirm(number, body) {
  const { status, failure } = await post(`/orders/${number}/confirm`, body);
  if (status === "succeeded") return thank();
  say(`${failure?.message ?? `The payment is ${status}.`} Nothing was charged; try another card.`);
}

async function start() {
  const query = new URLSearchParams(location.search);
  if (query.has("order")) {
    // Back from the customer's bank.
    form.hidden = true;
    const [paymentIntentId, clientStatus] = [query.get("payment_intent"), query.get("redirect_status")];
    return confirm(query.get("order"), { paymentIntentId, clientStatus });
  }
  const order = await post("/orders", { amountMinor: query.get("amount"), acquirer: query.get("acquirer") });
  const money = new Intl.NumberFormat("en", { style: "currency", currency: order.currency });
  const total = money.format(order.totalDebitMinor / 100);
  const [item, price] = [document.createElement("span"), document.createElement("strong")];
  [item.textContent, price.textContent] = [order.item, total];
  document.querySelector("#order").replaceChildren(item, price);
  button.textContent = `Pay ${total}`;
  await load(order.component.scriptUrl);
  const pay = await DRAW[order.component.type](order.component, order);
  button.disabled = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (button.ariaDisabled === "true") return;
    button.ariaDisabled = "true";
    problem.textContent = "";
    try {
      const result = await pay();
      if (result?.declined) say(result.declined);
      else if (result) await confirm(order.number, result.confirm);
    } catch (error) {
      say("The payment could not be made just now. Try again in a little while.");
      throw error;
    } finally {
      button.ariaDisabled = "false";
    }
  });
}

start();
