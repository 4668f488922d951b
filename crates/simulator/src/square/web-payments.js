// Enough of the provider's browser script for a page with an embedded card form, against the simulator only.

var base = document.currentScript.src.replace(/web-payments\.js.*$/, "");
var CARDS = [
  ["4242 4242 4242 4242", "Paid"],
  ["4000 0000 0000 0002", "Declined"],
  ["4000 0000 0000 9995", "No funds"],
  ["4000 0000 0000 0127", "Wrong code"],
];

function Card(applicationId, locationId) {
  var form = CardForm(CARDS);
  return {
    attach: async function (target) { form.mount(target); },
    tokenize: async function () {
      var mistake = form.check();
      if (mistake) {
        var error = { type: "VALIDATION_ERROR", field: mistake.field, message: mistake.message };
        return { status: "Invalid", errors: [error] };
      }
      var card = form.values();
      var answer = await (
        await fetch(base + "browser/tokens", {
          method: "POST",
          headers: { "Content-Type": "application/json" },
          body: JSON.stringify({
            application_id: applicationId,
            location_id: locationId,
            number: card.number,
            exp_month: card.month,
            exp_year: card.year,
            cvv: card.code,
          }),
        })
      ).json();
      if (answer.errors) {
        var errors = answer.errors.map(function (error) {
          return { type: error.code, message: error.detail, field: error.field };
        });
        return { status: "Invalid", errors: errors };
      }
      return { status: "OK", token: answer.token, details: answer.details };
    },
    addEventListener: function () {},
    clear: async function () { form.clear(); },
    destroy: async function () {
      form.host.remove();
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
