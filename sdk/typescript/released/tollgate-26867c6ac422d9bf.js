// Card fields on your own page, for whichever provider a payment was routed to. Served by Tollgate itself as /tollgate.js,
// and part of the npm package as `@tollgate/sdk/browser`. It has no key and calls no API of Tollgate's: your backend
// prepares the payment, and confirms it with what `submit` returns.

/**
 * @typedef {import("./generated.js").Component} Component
 * @typedef {import("./generated.js").PaymentElement} PaymentElement
 * @typedef {import("./generated.js").WebPayments} WebPayments
 * @typedef {import("./generated.js").DropIn} DropIn
 * @typedef {import("./generated.js").ConfirmationRequest} ConfirmationRequest
 * @typedef {import("./generated.js").FeeDecision} FeeDecision
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
 * @property {string} [state] The state or province, by the letters behind the country's; where these matter, there is no card fee
 *   without it.
 */

/**
 * @typedef {object} Card
 * @property {string} amount The total debit, as a decimal number: what the button says.
 * @property {string} currency
 * @property {() => Promise<ConfirmationRequest>} submit Hands the card to the provider. Resolves with what your backend
 *   confirms the payment with; rejects with a `CardError` that the customer can correct. A card whose bank asks first
 *   leaves the page instead.
 * @property {(steps: Steps) => Promise<Paid | null>} pay Pays, whichever way the fee of the payment is decided. Resolves with
 *   what `pay` of the steps resolved with; with null if the customer went back, and then it can be called again. Rejects like
 *   `submit`.
 * @property {() => void} unmount Removes the fields.
 */

/**
 * What your page does while a card is paid with. Both steps ask your backend, which calls Tollgate.
 *
 * @typedef {object} Steps
 * @property {(confirmationToken: string, changed?: FeeChange) => Promise<string | null>} show Only called where the card decides
 *   the fee. Your backend sends the token to `POST /client/v1/payments/component/{reference}/card`; show the customer the
 *   answer's `feeDecision.disclosure` and resolve with its `totalDebitMinor` once they agree, or with null if they go back.
 *   `changed` is there where the fee changed after they agreed: show that instead of asking again.
 * @property {(confirmation: ConfirmationRequest) => Promise<Paid>} pay Your backend sends this to
 *   `POST /client/v1/payments/component/{reference}/confirm`. Resolve with that answer's `data`; where it is 409 `fee_changed`, with
 *   its `error`.
 */

/**
 * @typedef {object} FeeChange
 * @property {FeeDecision} feeDecision
 * @property {string} totalDebitMinor
 */

/**
 * The answer to a confirmation, or its failure `fee_changed`.
 *
 * @typedef {{ transaction?: { status: string }, code?: string, feeDecision?: FeeDecision, totalDebitMinor?: string }} Paid
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
      return { amount, currency, ...inOneStep(await webPayments(place, component, options)) };
    case "card_provider_c_drop_in":
      return { amount, currency, ...inOneStep(await dropIn(place, component)) };
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
 * A card whose fee is known beforehand: paying it shows nothing.
 *
 * @template {{ submit: () => Promise<ConfirmationRequest> }} T
 * @param {T} card
 * @returns {T & Pick<Card, "pay">}
 */
function inOneStep(card) {
  return { ...card, pay: async ({ pay }) => pay(await card.submit()) };
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
  const { paymentMethods } = component;
  // Where the card decides the fee, the intent's total is not known yet: the fields know what can be paid with instead.
  const elements = stripe.elements(
    paymentMethods
      ? {
          mode: "payment",
          amount: Number(component.amountMinor),
          currency: component.currency.toLowerCase(),
          paymentMethodTypes: paymentMethods,
        }
      : { clientSecret: component.clientSecret },
  );
  const element = elements.create("payment");
  element.mount(place);
  if (paymentMethods) return inTwoSteps(stripe, elements, element, component, options);
  return inOneStep({
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
  });
}

/**
 * A card that decides the fee: it is shown before it is charged.
 *
 * @param {any} stripe
 * @param {any} elements
 * @param {any} element
 * @param {PaymentElement} component
 * @param {MountOptions} options
 */
function inTwoSteps(stripe, elements, element, component, options) {
  const failed = (/** @type {{ message?: string }} */ error) =>
    new CardError(error.message ?? "The card was not accepted.");
  return {
    /** Pays without a card fee, which is what the intent is for. */
    async submit() {
      const checked = await elements.submit();
      if (checked.error) throw failed(checked.error);
      const { error, paymentIntent } = await stripe.confirmPayment({
        elements,
        clientSecret: component.clientSecret,
        confirmParams: { return_url: options.returnUrl ?? location.href },
        redirect: "if_required",
      });
      const intent = paymentIntent ?? error?.payment_intent;
      if (error && !DONE.includes(intent?.status)) throw failed(error);
      return { paymentIntentId: component.paymentIntentId, clientStatus: intent.status };
    },
    /** @param {Steps} steps */
    async pay({ show, pay }) {
      const checked = await elements.submit();
      if (checked.error) throw failed(checked.error);
      const { givenName, familyName, email, countryCode, state } = options.billingContact ?? {};
      const name = [givenName, familyName].filter(Boolean).join(" ");
      const { error, confirmationToken } = await stripe.createConfirmationToken({
        elements,
        params: {
          return_url: options.returnUrl ?? location.href,
          payment_method_data: {
            billing_details: {
              ...(name ? { name } : {}),
              ...(email ? { email } : {}),
              ...(countryCode ? { address: { country: countryCode, ...(state ? { state } : {}) } } : {}),
            },
          },
        },
      });
      if (error) throw failed(error);
      /** @type {FeeChange | undefined} */
      let changed;
      for (;;) {
        const agreed = await show(confirmationToken.id, changed);
        if (agreed === null) return null;
        const paid = await pay({ confirmationToken: confirmationToken.id, acceptedTotalDebitMinor: agreed });
        if (paid.code === "fee_changed" && paid.feeDecision && paid.totalDebitMinor) {
          changed = { feeDecision: paid.feeDecision, totalDebitMinor: paid.totalDebitMinor };
          continue;
        }
        if (paid.transaction?.status !== "pending") return paid;
        // The customer's bank asks first, here or on a page of its own.
        const next = await stripe.handleNextAction({ clientSecret: component.clientSecret });
        if (next.error) throw failed(next.error);
        return pay({ paymentIntentId: component.paymentIntentId, clientStatus: next.paymentIntent.status });
      }
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

/**
 * @param {HTMLElement} place
 * @param {DropIn} component
 */
async function dropIn(place, component) {
  await load(component.scriptUrl, component.styleUrl);
  const { AdyenCheckout, Dropin, Card } = /** @type {any} */ (window).AdyenWeb;
  /** @type {{ resolve: (result: any) => void, reject: (error: Error) => void } | null} */
  let waiting = null;
  /** @type {any} */
  let drawn = null;
  // Both may be called for one attempt: the first one counts.
  const ended = (/** @type {any} */ result) => {
    if (result.sessionResult) waiting?.resolve(result);
    else waiting?.reject(new Error("the provider gave no result to confirm the payment with"));
    waiting = null;
  };
  const checkout = await AdyenCheckout({
    environment: component.environment,
    clientKey: component.clientKey,
    countryCode: component.countryCode,
    session: { id: component.sessionId, sessionData: component.sessionData },
    showPayButton: false,
    onPaymentCompleted: ended,
    onPaymentFailed(/** @type {any} */ result) {
      // The customer may try another card.
      drawn?.setStatus("ready");
      ended(result ?? {});
    },
    onError(/** @type {Error} */ error) {
      waiting?.reject(error.name === "CANCEL" ? new CardError("The payment was canceled.") : error);
      waiting = null;
    },
  });
  drawn = new Dropin(checkout, {
    paymentMethodComponents: [Card],
    openFirstPaymentMethod: true,
    disableFinalAnimation: true,
  }).mount(place);
  return {
    async submit() {
      // Shows what is missing, and calls nothing back then.
      if (!drawn.isValid) {
        drawn.submit();
        throw new CardError("Check the card's details.");
      }
      const { sessionResult } = await new Promise((resolve, reject) => {
        waiting = { resolve, reject };
        drawn.submit();
      });
      return { sessionResult };
    },
    unmount: () => void drawn.unmount(),
  };
}

/** @type {Map<string, Promise<void>>} */
const scripts = new Map();

/**
 * Loads the provider's own script, once, and its style sheet. They come from the provider and must not be bundled or hosted
 * elsewhere.
 *
 * @param {string} url
 * @param {string} [styleUrl]
 * @returns {Promise<void>}
 */
function load(url, styleUrl) {
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
      if (styleUrl) {
        const style = document.createElement("link");
        [style.rel, style.href] = ["stylesheet", styleUrl];
        document.head.append(style);
      }
      document.head.append(script);
    })
  );
  scripts.set(url, loading);
  return loading;
}
