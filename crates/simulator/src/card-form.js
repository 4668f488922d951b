// The card form both browser scripts draw, against the simulator only. It stands in a shadow root, so that the
// page's styles and its own leave each other alone; it follows the page's color scheme; and it needs no inline
// style, so that it works under a strict content security policy.

var STYLE = `
  :host { display: block; }
  * { box-sizing: border-box; }
  .form { padding: 1rem; font: 1rem/1.5 system-ui, sans-serif; text-align: start; border-radius: .75rem;
    color: light-dark(#18202b, #e8ecf2); background: light-dark(#fff, #1a2029);
    border: 1px solid light-dark(#dde2e9, #2e3744); }
  p { margin: 0; }
  .note { font-size: .875rem; color: light-dark(#4d3b00, #ffe9a6); }
  .badge { display: inline-block; margin-inline-end: .25rem; padding: 0 .5rem; border-radius: 1rem;
    font-size: .75rem; font-weight: 700; letter-spacing: .04em; text-transform: uppercase;
    color: light-dark(#fff1c2, #352c0c); background: light-dark(#4d3b00, #ffe08a); }
  .pair { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: .75rem; }
  label { display: block; margin-top: .75rem; font-weight: 600; }
  label small { font-weight: 400; color: light-dark(#556072, #a9b4c4); }
  input { display: block; width: 100%; min-height: 3rem; margin-top: .25rem; padding: .5rem .75rem; font: inherit;
    font-variant-numeric: tabular-nums; color: inherit; background: transparent;
    border: 1px solid light-dark(#7f8a9b, #7c8798); border-radius: .5rem; }
  input::placeholder { color: light-dark(#556072, #a9b4c4); opacity: 1; }
  input[aria-invalid="true"] { border: 2px solid light-dark(#a50e0e, #ffb4ab); }
  :focus-visible { outline: 3px solid light-dark(#0b57d0, #a8c7fa); outline-offset: 1px; }
  .mistake { margin-top: .375rem; font-size: .875rem; color: light-dark(#a50e0e, #ffb4ab); }
  details { margin-top: .75rem; font-size: .875rem; }
  summary { cursor: pointer; border-radius: .25rem; }
  dl { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: .25rem 1rem; margin: .5rem 0 0; }
  dt { font-family: ui-monospace, monospace; white-space: nowrap; user-select: all; }
  dd { margin: 0; color: light-dark(#556072, #a9b4c4); }
`;

function make(tag, attributes, children) {
  var element = document.createElement(tag);
  Object.keys(attributes || {}).forEach(function (name) { element.setAttribute(name, attributes[name]); });
  element.append.apply(element, children || []);
  return element;
}

function passesLuhn(digits) {
  var sum = 0;
  digits.split("").reverse().forEach(function (digit, place) {
    var doubled = place % 2 ? digit * 2 : digit * 1;
    sum += doubled > 9 ? doubled - 9 : doubled;
  });
  return sum % 10 === 0;
}

function groupNumber(digits) {
  var usual = /^(\d{1,4})(\d{0,4})(\d{0,4})(\d{0,4})(\d{0,3})/;
  var amex = /^(\d{1,4})(\d{0,6})(\d{0,5})/;
  var parts = (/^3[47]/.test(digits) ? amex : usual).exec(digits);
  return parts ? parts.slice(1).filter(Boolean).join(" ") : "";
}

function groupExpiry(digits, text, deleting) {
  if (/^[2-9]/.test(digits) || (/^1\s*\//.test(text) && digits.length === 1)) digits = "0" + digits;
  if (digits.length === 6) digits = digits.slice(0, 2) + digits.slice(4);
  var closed = !deleting && digits.length === 2 && /\/\s*$/.test(text);
  return digits.length > 2 || closed ? digits.slice(0, 2) + " / " + digits.slice(2, 4) : digits;
}

// Rewrites what was typed and keeps the caret behind the same digit.
function regroup(input, group) {
  input.addEventListener("input", function (event) {
    var deleting = /^delete/.test(event.inputType || "");
    var atEnd = input.selectionStart === input.value.length;
    var before = input.value.slice(0, input.selectionStart).replace(/\D/g, "").length;
    input.value = group(input.value.replace(/\D/g, ""), input.value, deleting);
    var at = 0;
    for (var seen = 0; at < input.value.length && seen < before; at += 1) {
      if (/\d/.test(input.value[at])) seen += 1;
    }
    if (atEnd) at = input.value.length;
    input.setSelectionRange(at, at);
  });
}

function field(name, label, attributes) {
  var mistake = make("p", { class: "mistake", id: name + "-mistake", hidden: "" });
  var common = { id: name, name: name, inputmode: "numeric", spellcheck: "false" };
  var input = make("input", Object.assign(common, attributes));
  var wrapper = make("div", {}, [make("label", { for: name }, label), input, mistake]);
  return {
    wrapper: wrapper,
    input: input,
    say: function (text) {
      mistake.textContent = text || "";
      mistake.hidden = !text;
      input[text ? "setAttribute" : "removeAttribute"]("aria-invalid", "true");
      input[text ? "setAttribute" : "removeAttribute"]("aria-describedby", mistake.id);
    },
  };
}

// Makes the form; `cards` are test numbers and what becomes of them.
function CardForm(cards) {
  var number = field("number", ["Card number"], { autocomplete: "cc-number", placeholder: "1234 1234 1234 1234" });
  var format = make("small", {}, ["MM/YY"]);
  var expiry = field("expiry", ["Expiry ", format], { autocomplete: "cc-exp", placeholder: "MM / YY" });
  var code = field("code", ["Security code"], { autocomplete: "cc-csc", placeholder: "3 or 4 digits", maxlength: "4" });
  var fields = [number, expiry, code];
  regroup(number.input, groupNumber);
  regroup(expiry.input, groupExpiry);
  var hints = cards.flatMap(function (card) { return [make("dt", {}, [card[0]]), make("dd", {}, [card[1]])]; });
  var badge = make("span", { class: "badge" }, ["Simulator"]);
  var host = make("div");
  var sheet = new CSSStyleSheet();
  sheet.replaceSync(STYLE);
  var root = host.attachShadow({ mode: "open" });
  root.adoptedStyleSheets = [sheet];
  root.append(
    make("div", { class: "form", role: "group", "aria-label": "Card" }, [
      make("p", { class: "note" }, [badge, " No money moves; use test cards only."]),
      number.wrapper,
      make("div", { class: "pair" }, [expiry.wrapper, code.wrapper]),
      make("details", {}, [make("summary", {}, ["Test cards (simulator only)"]), make("dl", {}, hints)]),
    ])
  );

  function digits(part) { return part.input.value.replace(/\D/g, ""); }

  // What cannot be right: the field, and what to say about it.
  function mistakes() {
    var date = digits(expiry);
    var month = Number(date.slice(0, 2));
    var monthAfter = new Date(2000 + Number(date.slice(2)), month);
    var typed = digits(number);
    var found = [];
    if (!typed) found.push([number, "Enter your card number."]);
    else if (typed.length < 12 || !passesLuhn(typed)) found.push([number, "Your card number is incorrect."]);
    if (date.length < 4 || month < 1 || month > 12) found.push([expiry, "Enter the date as on your card."]);
    else if (monthAfter <= new Date()) found.push([expiry, "Your card has expired."]);
    if (digits(code).length < 3) found.push([code, "Enter 3 or 4 digits."]);
    return found;
  }

  function isEmpty(part) { return !part.input.value; }

  fields.forEach(function (part) {
    part.input.addEventListener("input", function () {
      part.say(null);
      var detail = { complete: !mistakes().length, empty: fields.every(isEmpty) };
      host.dispatchEvent(new CustomEvent("cardchange", { detail: detail }));
    });
    // The page's own form cannot see fields in a shadow root, so Enter is passed on to it.
    part.input.addEventListener("keydown", function (event) {
      var around = host.closest("form");
      if (event.key === "Enter" && !event.isComposing && around) around.requestSubmit();
    });
  });

  return {
    host: host,
    mount: function (target) {
      (typeof target === "string" ? document.querySelector(target) : target).replaceChildren(host);
    },
    // The first mistake, shown at its field, which takes the focus; null where there is none.
    check: function () {
      var found = mistakes();
      fields.forEach(function (part) {
        var own = found.find(function (each) { return each[0] === part; });
        part.say(own && own[1]);
      });
      if (!found.length) return null;
      found[0][0].input.focus();
      return { field: found[0][0].input.name, message: found[0][1] };
    },
    values: function () {
      var date = digits(expiry);
      return { number: digits(number), month: date.slice(0, 2), year: date.slice(2), code: digits(code) };
    },
    clear: function () {
      fields.forEach(function (part) { part.input.value = ""; part.say(null); });
    },
  };
}
