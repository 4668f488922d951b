// Comfort only: every page works without it.
"use strict";

// "/" goes to the search field.
document.addEventListener("keydown", (event) => {
  const field = document.querySelector("[data-shortcut='/']");
  const typing = event.target.closest("input, textarea, select");
  if (event.key === "/" && field && !typing && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    field.focus();
  }
});

// Buttons that copy what stands beside them.
for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const source = document.getElementById(button.dataset.copy);
    await navigator.clipboard.writeText(source.textContent.trim());
    const before = button.textContent;
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = before; }, 1500);
  });
}

// Forms that change something that cannot be taken back ask once more.
for (const form of document.querySelectorAll("form[data-ask]")) {
  form.addEventListener("submit", (event) => {
    if (!window.confirm(form.dataset.ask)) event.preventDefault();
  });
}

// Filters apply as soon as they are chosen.
for (const select of document.querySelectorAll("select[data-at-once]")) {
  select.addEventListener("change", () => select.form.requestSubmit());
}

// A form is sent once, however often its button is pressed.
for (const form of document.querySelectorAll("form[method=post]")) {
  form.addEventListener("submit", (event) => {
    if (event.defaultPrevented) return;
    setTimeout(() => {
      for (const button of form.querySelectorAll("button")) button.disabled = true;
    }, 0);
  });
}

// A page that answers a form is a page like any other from now on: looking at it again does not send the form again.
history.replaceState(null, "", location.href);
