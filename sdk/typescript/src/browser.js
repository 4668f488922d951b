// Card fields on your own page, for whichever provider a payment was routed to. Served by Tollgate itself as /tollgate.js,
// and part of the npm package as `@tollgate/sdk/browser`. It has no key and calls no API of Tollgate's: your backend
// prepares the payment, and confirms it with what `submit` returns.

/**
 * @typedef {import("./generated.js").Component} Component
 * @typedef {import("./generated.js").PaymentElement} PaymentElement
 * @typedef {import("./generated.js").WebPayments} WebPayments
 * @typedef {import("./generated.js").ConfirmationRequest} ConfirmationRequest
 */

/**
 * @typedef {object} MountOptions
 * @property {string} [returnUrl] Where a bank that asks the customer first sends them back to; this page unless set. Call
 *   `returned` there.
 * @property {BillingContact} [billingContact] What the customer's bank may want to know.
 */

/**
 * @typedef {object} BillingContact
 * @property {string} [givenName]
 * @property {string} [familyName]
 * @property {string} [email]
 * @property {string} [countryCode] Two letters.
 */

/**
 * @typedef {object} Card
 * @property {string} amount The total debit, as a decimal number: what the button says.
 * @property {string} currency
 * @property {() => Promise<ConfirmationRequest>} submit Hands the card to the provider. Resolves with what your backend
 *   confirms the payment with; rejects with a `CardError` that the customer can correct. A card whose bank asks first
 *   leaves the page instead.
 * @property {() => void} unmount Removes the fields.
 */

const SCRIPT_TIMEOUT_MS = 30_000;
/** What the provider did although its script reports an error: nothing is left for the customer to do. */
const DONE = ["succeeded", "processing", "requires_capture"];

/** The customer can correct it: the message is for them. */
export class CardError extends Error {
  /** @override */
  name = "CardError";
}

/**
 * Draws the card fields of a prepared payment.
 *
 * @param {string | HTMLElement} target An element, or a selector of one.
 * @param {{ component?: Component }} payment The prepared payment, or any object with its `component`.
 * @param {MountOptions} [options]
 * @returns {Promise<Card>}
 */
export async function mount(target, payment, options = {}) {
  const place = typeof target === "string" ? document.querySelector(target) : target;
  if (!(place instanceof HTMLElement)) throw new TypeError(`there is no element ${target} on the page`);
  const { component } = payment;
  if (!component) throw new TypeError("the payment has no component: prepare it for one");
  const { amount, currency } = component;
  switch (component.type) {
    case "card_provider_a_payment_element":
      return { amount, currency, ...(await paymentElement(place, component, options)) };
    case "card_provider_b_web_payments":
      return { amount, currency, ...(await webPayments(place, component, options)) };
    default:
      throw new TypeError(`this version of tollgate.js does not know ${/** @type {any} */ (component).type}`);
  }
}

/**
 * What to confirm the payment with, where the customer came back from their bank; null on any other visit.
 *
 * @param {string} [url]
 * @returns {ConfirmationRequest | null}
 */
export function returned(url = location.href) {
  const query = new URL(url).searchParams;
  const paymentIntentId = query.get("payment_intent");
  return paymentIntentId ? { paymentIntentId, clientStatus: query.get("redirect_status") } : null;
}

/**
 * @param {HTMLElement} place
 * @param {PaymentElement} component
 * @param {MountOptions} options
 */
async function paymentElement(place, component, options) {
  await load(component.scriptUrl);
  const { publishableKey, account } = component;
  const stripe = /** @type {any} */ (window).Stripe(publishableKey, account ? { stripeAccount: account } : {});
  const elements = stripe.elements({ clientSecret: component.clientSecret });
  const element = elements.create("payment");
  element.mount(place);
  return {
    async submit() {
      const { error, paymentIntent } = await stripe.confirmPayment({
        elements,
        confirmParams: { return_url: options.returnUrl ?? location.href },
        redirect: "if_required",
      });
      // An answer that was lost, and a second click: the payment is made, whatever the error says.
      const intent = paymentIntent ?? error?.payment_intent;
      if (error && !DONE.includes(intent?.status)) throw new CardError(error.message ?? "The card was not accepted.");
      return { paymentIntentId: component.paymentIntentId, clientStatus: intent.status };
    },
    unmount: () => element.destroy(),
  };
}

/**
 * @param {HTMLElement} place
 * @param {WebPayments} component
 * @param {MountOptions} options
 */
async function webPayments(place, component, { billingContact = {} }) {
  await load(component.scriptUrl);
  const card = await /** @type {any} */ (window).Square.payments(component.applicationId, component.locationId).card();
  await card.attach(place);
  return {
    async submit() {
      const { status, token, errors } = await card.tokenize({
        amount: component.amount,
        currencyCode: component.currency,
        intent: "CHARGE",
        customerInitiated: true,
        sellerKeyedIn: false,
        billingContact,
      });
      if (status !== "OK") {
        const messages = (errors ?? []).map((/** @type {{ message: string }} */ error) => error.message);
        throw new CardError(messages.join(" ") || "Check the card's details.");
      }
      return { sourceId: token, ...(billingContact.email ? { buyerEmail: billingContact.email } : {}) };
    },
    unmount: () => void card.destroy(),
  };
}

/** @type {Map<string, Promise<void>>} */
const scripts = new Map();

/**
 * Loads the provider's own script, once. It comes from the provider and must not be bundled or hosted elsewhere.
 *
 * @param {string} url
 * @returns {Promise<void>}
 */
function load(url) {
  const known = scripts.get(url);
  if (known) return known;
  const loading = /** @type {Promise<void>} */ (
    new Promise((resolve, reject) => {
      const script = document.createElement("script");
      const fail = () => {
        script.remove();
        scripts.delete(url);
        reject(new Error(`${url} could not be loaded`));
      };
      const timer = setTimeout(fail, SCRIPT_TIMEOUT_MS);
      script.src = url;
      script.onload = () => {
        clearTimeout(timer);
        resolve();
      };
      script.onerror = () => {
        clearTimeout(timer);
        fail();
      };
      document.head.append(script);
    })
  );
  scripts.set(url, loading);
  return loading;
}
