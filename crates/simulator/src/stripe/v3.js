// Enough of the provider's browser script for a page with an embedded card form, against the simulator only.
(function () {
  "use strict";
  var base = document.currentScript.src.replace(/v3\.js.*$/, "");

  function field(id, label, hint, width) {
    var wrapper = document.createElement("label");
    wrapper.style.cssText = "display:block;margin:0 0 .75rem;font:inherit;width:" + (width || "100%");
    wrapper.append(label);
    var input = document.createElement("input");
    input.name = id;
    input.inputMode = "numeric";
    input.placeholder = hint;
    input.autocomplete = "off";
    input.style.cssText = "display:block;width:100%;box-sizing:border-box;padding:.6rem;font:inherit";
    wrapper.append(input);
    return { wrapper: wrapper, input: input };
  }

  function Element() {
    var parts = [
      field("number", "Card number", "4242 4242 4242 4242"),
      field("expiry", "Expiry (MM/YY)", "12/34"),
      field("cvc", "Security code", "123"),
    ];
    var listeners = {};
    var note = document.createElement("p");
    note.textContent = "Simulator: no money moves; use test cards only.";
    var element = {
      mount: function (target) {
        var place = typeof target === "string" ? document.querySelector(target) : target;
        place.replaceChildren.apply(place, [note].concat(parts.map(function (part) { return part.wrapper; })));
        setTimeout(function () { element._tell("ready", {}); }, 0);
      },
      unmount: function () {
        parts.forEach(function (part) { part.wrapper.remove(); });
        note.remove();
      },
      on: function (event, listener) {
        (listeners[event] = listeners[event] || []).push(listener);
        return element;
      },
      _tell: function (event, detail) {
        (listeners[event] || []).forEach(function (listener) { listener(detail); });
      },
      _card: function () {
        var values = parts.map(function (part) { return part.input.value; });
        var expiry = values[1].split("/");
        return { number: values[0], exp_month: (expiry[0] || "").trim(), exp_year: (expiry[1] || "").trim(), cvc: values[2] };
      },
    };
    element.destroy = element.unmount;
    parts.forEach(function (part) {
      part.input.addEventListener("input", function () {
        var complete = parts.every(function (each) { return each.input.value.trim() !== ""; });
        element._tell("change", { complete: complete, empty: false });
      });
    });
    return element;
  }

  window.Stripe = function (publishableKey) {
    async function call(method, path, fields) {
      var form = new URLSearchParams(fields);
      var url = base + "v1/" + path + (method === "GET" ? "?" + form : "");
      var options = { method: method, headers: { Authorization: "Bearer " + publishableKey } };
      if (method === "POST") options.body = form;
      try {
        var answer = await (await fetch(url, options)).json();
        return answer.error ? { error: answer.error } : { paymentIntent: answer };
      } catch (problem) {
        return { error: { type: "api_connection_error", message: String(problem) } };
      }
    }

    function intentOf(clientSecret) {
      return "payment_intents/" + encodeURIComponent(clientSecret.split("_secret_")[0]);
    }

    async function confirm(clientSecret, element, returnUrl) {
      var fields = { client_secret: clientSecret, "payment_method_data[type]": "card" };
      var card = element._card();
      Object.keys(card).forEach(function (name) { fields["payment_method_data[card][" + name + "]"] = card[name]; });
      if (returnUrl) fields.return_url = returnUrl;
      return call("POST", intentOf(clientSecret) + "/confirm", fields);
    }

    return {
      elements: function (options) {
        var made = null;
        return {
          _secret: (options || {}).clientSecret,
          _element: function () { return made; },
          create: function () { return (made = Element()); },
          getElement: function () { return made; },
          submit: async function () { return {}; },
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
      confirmCardPayment: function (clientSecret, data) {
        return confirm(clientSecret, data.payment_method.card);
      },
      retrievePaymentIntent: function (clientSecret) {
        return call("GET", intentOf(clientSecret), { client_secret: clientSecret });
      },
    };
  };
})();
