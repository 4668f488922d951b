// Enough of the provider's browser script for a page with a Drop-in on a session, against the simulator only.

var base = document.currentScript.src.replace(/sdk\/.*$/, "");
var CARDS = [
  ["4111 1111 1111 1111", "Paid"],
  ["4000 0000 0000 0002", "Declined"],
  ["4000 0000 0000 9995", "No funds"],
  ["5454 5454 5454 5454", "Bank asks for a password"],
];
// What the form of the others does not need: a button of its own, a name, and the issuer's question.
var MORE = `
  button { display: block; width: 100%; min-height: 3rem; margin-top: 1rem; font: inherit; font-weight: 650;
    color: light-dark(#fff, #06234f); background: light-dark(#0b57d0, #a8c7fa); border: 0; border-radius: .5rem;
    cursor: pointer; }
  button:disabled { opacity: .6; cursor: default; }
  .status:not(:empty) { margin-top: .75rem; font-weight: 600; }
  [hidden] { display: none; }
`;

function failure(name, text) {
  var error = new Error(text);
  error.name = name;
  return error;
}

async function AdyenCheckout(options) {
  var session = options.session;
  if (!options.countryCode) throw failure("IMPLEMENTATION_ERROR", "You must specify a countryCode.");
  if (!options.clientKey || options.clientKey.indexOf(options.environment === "test" ? "test_" : "live_") !== 0) {
    throw failure("IMPLEMENTATION_ERROR", "The client key does not fit the environment.");
  }
  if (!session || !session.id) throw failure("IMPLEMENTATION_ERROR", "You must give a session.");
  var data = session.sessionData;

  async function call(action, body) {
    var url = base + "v1/sessions/" + encodeURIComponent(session.id) + "/" + action;
    var answer;
    try {
      answer = await fetch(url + "?clientKey=" + encodeURIComponent(options.clientKey), {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(Object.assign({ sessionData: data }, body)),
      });
    } catch (problem) {
      throw failure("NETWORK_ERROR", String(problem));
    }
    var said = await answer.json();
    if (!answer.ok) throw failure("NETWORK_ERROR", said.message);
    data = said.sessionData;
    return said;
  }

  var set = await call("setup", {});
  return { options: options, session: { id: session.id }, paymentMethodsResponse: set.paymentMethods, _set: set, _call: call };
}

function Dropin(checkout, props) {
  var options = Object.assign({ showPayButton: true }, checkout.options, props);
  var form = CardForm(CARDS);
  var root = form.host.shadowRoot;
  var sheet = new CSSStyleSheet();
  sheet.replaceSync(MORE);
  root.adoptedStyleSheets = root.adoptedStyleSheets.concat(sheet);
  var box = root.querySelector(".form");
  var pay = make("button", { type: "button" }, ["Pay " + checkout._set.amountText]);
  var status = make("p", { class: "status", role: "status" });
  var component = this;
  var name;
  if (((options.paymentMethodsConfiguration || {}).card || {}).hasHolderName) {
    name = field("holder", ["Name on card"], { autocomplete: "cc-name", inputmode: "text" });
    box.insertBefore(name.wrapper, root.querySelector("details"));
  }
  box.append(status);
  if (options.showPayButton) box.insertBefore(pay, root.querySelector("details"));
  var isBusy = false;
  var isComplete = false;

  function tell(event, detail) {
    if (options[event]) options[event](detail, component);
  }

  function busy(is) {
    isBusy = is;
    pay.disabled = is;
    status.textContent = is ? "Processing…" : "";
  }

  // Asks for the issuer's password in the component, and gives what the issuer answers.
  function challenge(action) {
    var password = field("password", ["Your bank's password ", make("small", {}, ["(simulator: password)"])],
      { type: "password", inputmode: "text", autocomplete: "off" });
    var confirm = make("button", { type: "submit" }, ["Confirm"]);
    var ask = make("form", { class: "form", "aria-label": "Your bank asks" }, [
      make("p", {}, ["Your bank asks you to confirm this payment."]), password.wrapper, confirm]);
    box.hidden = true;
    root.append(ask);
    password.input.focus();
    return new Promise(function (resolve, reject) {
      ask.addEventListener("submit", function (event) {
        event.preventDefault();
        confirm.disabled = true;
        fetch(base + "challenge/" + encodeURIComponent(action.token), {
          method: "POST",
          headers: { "Content-Type": "application/json" },
          body: JSON.stringify({ password: password.input.value }),
        }).then(function (answer) { return answer.json(); }).then(resolve, reject)
          .finally(function () { ask.remove(); box.hidden = false; });
      });
    });
  }

  async function submit() {
    if (isBusy || form.check()) return;
    busy(true);
    try {
      var card = form.values();
      var result = await checkout._call("payments", { paymentMethod: {
        type: "scheme", number: card.number, expiryMonth: card.month, expiryYear: card.year, cvc: card.code,
        holderName: name && name.input.value,
      } });
      if (result.action) {
        var answered = await challenge(result.action);
        var proof = btoa(JSON.stringify({ transStatus: answered.transStatus }));
        var details = { threeDSResult: proof };
        result = await checkout._call("paymentDetails", { paymentData: result.action.paymentData, details: details });
      }
      busy(false);
      var isGood = ["Authorised", "Received", "Pending"].indexOf(result.resultCode) >= 0;
      status.textContent = isGood ? "Payment successful" : "The payment was refused. Try another card.";
      if (isGood) [pay, form].forEach(function (part) { part.disabled = true; });
      tell(isGood ? "onPaymentCompleted" : "onPaymentFailed", result);
    } catch (error) {
      busy(false);
      status.textContent = "An error occurred. Try again.";
      tell("onError", error);
    }
  }

  pay.addEventListener("click", submit);
  form.host.addEventListener("cardchange", function (event) {
    isComplete = event.detail.complete;
    tell("onChange", { isValid: event.detail.complete, data: { paymentMethod: { type: "scheme" } } });
  });
  form.host.addEventListener("keydown", function (event) {
    var at = event.composedPath()[0];
    if (event.key === "Enter" && at.tagName === "INPUT" && !at.form && options.showPayButton) submit();
  });
  this.mount = function (target) {
    form.host.classList.add("adyen-checkout__dropin");
    form.mount(target);
    setTimeout(function () { tell("onReady"); }, 0);
    return component;
  };
  this.submit = function () { submit(); return component; };
  this.unmount = this.remove = function () { form.host.remove(); return component; };
  this.setStatus = function (named) { if (named === "ready") busy(false); return component; };
  Object.defineProperty(this, "isValid", { get: function () { return isComplete; } });
}

// Payment methods are classes that a page names; here there is one.
function Card() {}
window.AdyenWeb = { AdyenCheckout: AdyenCheckout, Dropin: Dropin, Card: Card };
window.AdyenCheckout = AdyenCheckout;
