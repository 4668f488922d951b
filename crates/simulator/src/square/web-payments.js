// Enough of the provider's browser script for a page with an embedded card form, against the simulator only.
(function () {
  "use strict";
  var base = document.currentScript.src.replace(/web-payments\.js.*$/, "");

  function field(name, label, hint) {
    var wrapper = document.createElement("label");
    wrapper.style.cssText = "display:block;margin:0 0 .75rem;font:inherit";
    wrapper.append(label);
    var input = document.createElement("input");
    input.name = name;
    input.inputMode = "numeric";
    input.placeholder = hint;
    input.autocomplete = "off";
    input.style.cssText = "display:block;width:100%;box-sizing:border-box;padding:.6rem;font:inherit";
    wrapper.append(input);
    return { wrapper: wrapper, input: input };
  }

  function Card(applicationId, locationId) {
    var number = field("number", "Card number", "4111 1111 1111 1111");
    var expiry = field("expiry", "Expiry (MM/YY)", "12/34");
    var cvv = field("cvv", "CVV", "123");
    var note = document.createElement("p");
    note.textContent = "Simulator: no money moves; use test cards only.";
    return {
      attach: async function (target) {
        var place = typeof target === "string" ? document.querySelector(target) : target;
        place.replaceChildren(note, number.wrapper, expiry.wrapper, cvv.wrapper);
      },
      tokenize: async function () {
        var date = expiry.input.value.split("/");
        var answer = await (
          await fetch(base + "browser/tokens", {
            method: "POST",
            headers: { "Content-Type": "application/json" },
            body: JSON.stringify({
              application_id: applicationId,
              location_id: locationId,
              number: number.input.value,
              exp_month: (date[0] || "").trim(),
              exp_year: (date[1] || "").trim(),
              cvv: cvv.input.value,
            }),
          })
        ).json();
        if (answer.errors) {
          var errors = answer.errors.map(function (error) {
            return { type: error.code, message: error.detail, field: error.field };
          });
          return { status: "INVALID", errors: errors };
        }
        return { status: "OK", token: answer.token, details: answer.details };
      },
      addEventListener: function () {},
      destroy: async function () {
        [note, number.wrapper, expiry.wrapper, cvv.wrapper].forEach(function (part) { part.remove(); });
        return true;
      },
    };
  }

  window.Square = {
    payments: function (applicationId, locationId) {
      return {
        card: async function () { return Card(applicationId, locationId); },
        verifyBuyer: async function () { return { token: "verf:simulated", userChallenged: false }; },
      };
    },
  };
})();
