// Enough of the provider's browser script for a page with an embedded card form, against the simulator only.

var base = document.currentScript.src.replace(/v3\.js.*$/, "");
var CARDS = [
  ["4242 4242 4242 4242", "Paid"],
  ["4000 0000 0000 0002", "Declined"],
  ["4000 0000 0000 9995", "No funds"],
  ["4000 0025 0000 3155", "Bank asks first"],
];

function Element() {
  var form = CardForm(CARDS);
  var listeners = {};
  function tell(event, detail) {
    (listeners[event] || []).forEach(function (listener) { listener(detail); });
  }
  var element = {
    mount: function (target) {
      form.mount(target);
      setTimeout(function () { tell("ready", {}); }, 0);
    },
    unmount: function () { form.host.remove(); },
    destroy: function () { form.host.remove(); },
    clear: form.clear,
    on: function (event, listener) {
      (listeners[event] = listeners[event] || []).push(listener);
      return element;
    },
    _form: form,
  };
  form.host.addEventListener("cardchange", function (event) { tell("change", event.detail); });
  return element;
}

window.Stripe = function (publishableKey, options) {
  var account = (options || {}).stripeAccount;
  async function call(method, path, fields) {
    var query = new URLSearchParams(fields);
    if (account) query.set("_stripe_account", account);
    var url = base + "v1/" + path + (method === "GET" ? "?" + query : "");
    var options = { method: method, headers: { Authorization: "Bearer " + publishableKey } };
    if (method === "POST") options.body = query;
    try {
      var answer = await (await fetch(url, options)).json();
      if (answer.error) return { error: answer.error };
      return answer.object === "confirmation_token" ? { confirmationToken: answer } : { paymentIntent: answer };
    } catch (problem) {
      return { error: { type: "api_connection_error", message: String(problem) } };
    }
  }

  function intentOf(clientSecret) {
    return "payment_intents/" + encodeURIComponent(clientSecret.split("_secret_")[0]);
  }

  // What the customer typed, as the API takes it, or the first mistake in it.
  function collect(element) {
    var mistake = element._form.check();
    if (mistake) {
      return { error: { type: "validation_error", code: "incomplete_" + mistake.field, message: mistake.message } };
    }
    var card = element._form.values();
    return {
      fields: {
        "payment_method_data[type]": "card",
        "payment_method_data[card][number]": card.number,
        "payment_method_data[card][exp_month]": card.month,
        "payment_method_data[card][exp_year]": card.year,
        "payment_method_data[card][cvc]": card.code,
        // Of a card in the United States, the provider's form collects no state.
        "payment_method_data[billing_details][address][country]": "US",
      },
    };
  }

  async function confirm(clientSecret, element, returnUrl) {
    var collected = collect(element);
    if (collected.error) return collected;
    var fields = Object.assign({ client_secret: clientSecret }, collected.fields);
    if (returnUrl) fields.return_url = returnUrl;
    return call("POST", intentOf(clientSecret) + "/confirm", fields);
  }

  return {
    elements: function (options) {
      var made = null;
      var submitted = false;
      return {
        _submitted: function () { return submitted; },
        _secret: (options || {}).clientSecret,
        _element: function () { return made; },
        create: function () { return (made = Element()); },
        getElement: function () { return made; },
        submit: async function () {
          submitted = true;
          var collected = collect(made);
          return collected.error ? { error: collected.error } : {};
        },
      };
    },
    confirmPayment: async function (options) {
      var params = options.confirmParams || {};
      var secret = options.clientSecret || options.elements._secret;
      var result = await confirm(secret, options.elements._element(), params.return_url);
      var intent = result.paymentIntent;
      if (!intent) return result;
      if (intent.status === "requires_action") {
        window.location.assign(intent.next_action.redirect_to_url.url);
        return new Promise(function () {});
      }
      if (options.redirect !== "if_required" && params.return_url) {
        var to = new URL(params.return_url, window.location.href);
        to.searchParams.set("payment_intent", intent.id);
        to.searchParams.set("payment_intent_client_secret", secret);
        to.searchParams.set("redirect_status", intent.status === "succeeded" ? "succeeded" : "pending");
        window.location.assign(to.href);
        return new Promise(function () {});
      }
      return result;
    },
    createConfirmationToken: async function (options) {
      var params = options.params || {};
      // As with the provider's own script, what was typed is submitted first.
      if (!options.elements._submitted()) {
        throw new Error("elements.submit() must be called before stripe.createConfirmationToken()");
      }
      var collected = collect(options.elements._element());
      if (collected.error) return collected;
      var address = ((params.payment_method_data || {}).billing_details || {}).address || {};
      Object.keys(address).forEach(function (part) {
        collected.fields["payment_method_data[billing_details][address][" + part + "]"] = address[part];
      });
      if (params.return_url) collected.fields.return_url = params.return_url;
      return call("POST", "confirmation_tokens", collected.fields);
    },
    handleNextAction: async function (options) {
      var result = await this.retrievePaymentIntent(options.clientSecret);
      var intent = result.paymentIntent;
      if (!intent || intent.status !== "requires_action") return result;
      window.location.assign(intent.next_action.redirect_to_url.url);
      return new Promise(function () {});
    },
    confirmCardPayment: function (clientSecret, data) {
      return confirm(clientSecret, data.payment_method.card);
    },
    retrievePaymentIntent: function (clientSecret) {
      return call("GET", intentOf(clientSecret), { client_secret: clientSecret });
    },
  };
};
