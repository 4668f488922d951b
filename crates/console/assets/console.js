// Comfort only: every page works without it.
"use strict";

// The palette: "/" or Ctrl-K finds payments and pages.
const field = document.querySelector("[data-palette]");
if (field) {
  const base = field.dataset.palette;
  const palette = document.createElement("dialog");
  palette.className = "palette";
  palette.setAttribute("aria-label", "Find a payment, a page or an action");
  palette.innerHTML = `<input type="text" role="combobox" aria-expanded="true" aria-controls="palette-list" aria-autocomplete="list"
    aria-label="Find a payment, a page or an action" placeholder="Reference, amount, customer, ID, key=value, a page or an action" autocomplete="off" spellcheck="false">
    <ul id="palette-list" role="listbox" aria-label="Found"></ul>`;
  document.body.append(palette);
  const [input, list] = palette.children;
  const linked = (selector, kind) => [...document.querySelectorAll(selector)].map((link) => ({
    title: link.title || link.textContent.trim(), kind: link.dataset.kind ?? kind, words: link.dataset.words ?? "", href: link.href }));
  // What can be done with what is open, the menu, and everything else.
  const pages = [...linked(".subject .actions a", "Action"), ...linked(".menu a, .leave a, .place[href]", "Page"), ...linked("#commands a")];
  // Every word has to begin one of the title's or of its synonyms; titles come first.
  const matching = (text) => {
    const asked = text.toLowerCase().split(/[\s…]+/).filter(Boolean);
    const fits = (words) => asked.every((word) => ` ${words.toLowerCase()}`.includes(` ${word}`));
    const [named, related] = [pages.filter(({ title }) => fits(title)), pages.filter(({ title, words }) => !fits(title) && fits(`${title} ${words}`))];
    return [...named, ...related];
  };
  let found = [], chosen = 0, asked = 0;
  const choose = (place) => {
    chosen = Math.max(0, Math.min(place, found.length - 1));
    [...list.children].forEach((item, at) => item.setAttribute("aria-selected", String(at === chosen)));
    input.setAttribute("aria-activedescendant", `found-${chosen}`);
    list.children[chosen]?.scrollIntoView({ block: "nearest" });
  };
  const show = (payments) => {
    const text = input.value.trim();
    const search = { title: `Search payments for “${text}”`, kind: "Search", href: `${base}/payments?q=${encodeURIComponent(text)}` };
    found = [...(text ? [search] : []), ...payments, ...matching(text)].slice(0, 12);
    list.replaceChildren(...found.map(({ title, kind, href }, at) => {
      const item = document.createElement("li");
      Object.assign(item, { id: `found-${at}`, role: "option", textContent: title });
      const aside = document.createElement("span");
      aside.textContent = kind;
      item.append(aside);
      item.addEventListener("click", () => { location.href = href; });
      return item;
    }));
    choose(0);
  };
  // Payments come from the same page that lists them.
  const ask = async (number) => {
    const text = input.value.trim();
    if (text.length < 3) return;
    const answer = await fetch(`${base}/payments?q=${encodeURIComponent(text)}`).catch(() => null);
    if (!answer?.ok || number !== asked) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const rows = [...page.querySelectorAll(".payments tbody tr")].slice(0, 6);
    const words = (row, part) => row.querySelector(part)?.firstChild?.textContent.trim();
    show(rows.map((row) => ({
      title: [".number b", ".who a", ".badge", ".about"].map((part) => words(row, part)).filter(Boolean).join(" · "),
      kind: "Payment", href: row.querySelector("a").getAttribute("href") })));
  };
  const open = () => {
    input.value = field.value;
    show([]);
    if (!palette.open) palette.showModal();
    input.focus();
  };
  input.addEventListener("input", () => {
    show([]);
    asked += 1;
    const number = asked;
    setTimeout(() => { if (number === asked) ask(number); }, 200);
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      choose(chosen + (event.key === "ArrowDown" ? 1 : -1));
    } else if (event.key === "Enter" && found[chosen]) {
      event.preventDefault();
      location.href = found[chosen].href;
    }
  });
  palette.addEventListener("click", (event) => { if (event.target === palette) palette.close(); });
  field.addEventListener("click", open);
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.closest("input, textarea, select");
    const isShortcut = (event.key === "k" && (event.ctrlKey || event.metaKey)) || (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey);
    if (isShortcut) {
      event.preventDefault();
      open();
    }
  });
}

// On a phone the menu is a row: the page that is open is in sight.
const menu = document.querySelector(".menu");
const current = menu?.querySelector("[aria-current]")?.closest(".entry");
if (current && menu.scrollWidth > menu.clientWidth) menu.scrollLeft = current.offsetLeft - (menu.clientWidth - current.offsetWidth) / 2;

// Filters by name, kept in this browser.
const filters = document.querySelector("[data-saved-filters]");
if (filters) {
  const place = `filters ${location.pathname}`;
  // A browser may keep nothing, or give back something else.
  const saved = () => {
    try { return JSON.parse(localStorage.getItem(place)) ?? {}; } catch { return {}; }
  };
  const keep = (all) => {
    try { localStorage.setItem(place, JSON.stringify(all)); } catch { /* Then it is not kept. */ }
    draw();
  };
  const query = new URLSearchParams([...new URLSearchParams(location.search)].filter(([name, value]) => value && name !== "before")).toString();
  const button = (text, label, act) => {
    const made = document.createElement("button");
    Object.assign(made, { type: "button", textContent: text, className: "quiet" });
    made.setAttribute("aria-label", label);
    made.addEventListener("click", act);
    return made;
  };
  const draw = () => {
    const all = saved();
    filters.replaceChildren(...Object.entries(all).flatMap(([name, kept]) => {
      const link = document.createElement("a");
      Object.assign(link, { href: `?${kept}`, textContent: name });
      if (kept === query) link.setAttribute("aria-current", "true");
      return [link, button("×", `Forget the filter ${name}`, () => { delete all[name]; keep(all); })];
    }));
    if (query && !Object.values(all).includes(query)) {
      filters.append(button("Save this filter…", "Save this filter", () => {
        const name = window.prompt("A name for this filter")?.trim();
        if (name) keep({ ...all, [name]: query });
      }));
    }
    filters.hidden = !filters.children.length;
  };
  draw();
}

// On a phone a table becomes a list of cards, whose lines are named by the columns. Moments are shown in the reader's own time.
const MOMENT = { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" };
const [thisYear, otherYear] = [MOMENT, { ...MOMENT, year: "numeric" }].map((parts) => new Intl.DateTimeFormat(undefined, parts));
function prepare(part) {
  for (const region of part.querySelectorAll(".wide")) {
    const names = [...region.querySelectorAll("thead th")].map((head) => head.textContent.trim());
    if (!names.length) continue;
    region.classList.add("stacked");
    for (const row of region.querySelectorAll("tbody tr")) {
      [...row.children].forEach((cell, at) => { if (names[at] && cell.tagName === "TD") cell.dataset.label = names[at]; });
    }
  }
  for (const time of part.querySelectorAll("time[datetime]")) {
    const at = new Date(time.dateTime);
    time.textContent = (at.getFullYear() === new Date().getFullYear() ? thisYear : otherYear).format(at);
  }
}

// Lists stay current while somebody is there, and keep their place: the row at the top of the window and the focus stay.
const REFRESH_MS = 15_000, ATTENDED_MS = 600_000;
const lists = [...document.querySelectorAll("[data-live]")];
const asSent = new Map(lists.map((list) => [list, list.innerHTML]));
prepare(document);
let attended = Date.now();
for (const sign of ["pointermove", "pointerdown", "keydown", "wheel", "focus"]) {
  addEventListener(sign, () => { attended = Date.now(); }, { capture: true, passive: true });
}
const hrefOf = (row) => row.querySelector("a[href]")?.getAttribute("href");
function renew(list, fresh) {
  const sent = fresh.innerHTML;
  if (sent === asSent.get(list)) return;
  asSent.set(list, sent);
  prepare(fresh);
  const rows = () => [...list.querySelectorAll("tbody tr")];
  const top = (row) => row.getBoundingClientRect().top;
  const anchor = rows().find((row) => top(row) >= 0);
  const [key, before] = anchor ? [hrefOf(anchor), top(anchor)] : [];
  const focused = list.contains(document.activeElement) && document.activeElement.getAttribute("href");
  const scrolled = [...list.querySelectorAll(".wide")].map((region) => region.scrollLeft);
  list.replaceChildren(...fresh.childNodes);
  list.querySelectorAll(".wide").forEach((region, at) => { region.scrollLeft = scrolled[at] ?? 0; });
  if (focused) [...list.querySelectorAll("a[href]")].find((link) => link.getAttribute("href") === focused)?.focus({ preventScroll: true });
  const again = key && scrollY > 0 && rows().find((row) => hrefOf(row) === key);
  if (again) scrollBy({ top: top(again) - before, behavior: "instant" });
}
async function refresh() {
  const isAway = document.hidden || Date.now() - attended > ATTENDED_MS;
  if (isAway || document.querySelector("dialog[open]") || !getSelection().isCollapsed) return;
  const answer = await fetch(location.href, { headers: { "Tollgate-Refresh": "1" } }).catch(() => null);
  if (!answer?.ok || answer.redirected) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const list of lists) {
    const fresh = page.querySelector(`[data-live="${list.dataset.live}"]`);
    if (fresh) renew(list, fresh);
  }
}
if (lists.length) setInterval(refresh, REFRESH_MS);

// Keys: j and k go through the rows of a page, Enter opens one, ? shows this list.
const KEYS = [["/ or Ctrl K", "Find a payment, a page or an action"], ["j, k", "Next row, row before"], ["Enter", "Open the row"], ["?", "Show these shortcuts"], ["Esc", "Close"]];
function showKeys() {
  let help = document.querySelector(".keys");
  if (!help) {
    help = document.createElement("dialog");
    help.className = "palette keys";
    help.setAttribute("aria-label", "Keyboard shortcuts");
    const names = document.createElement("dl");
    names.className = "facts";
    for (const [key, what] of KEYS) {
      const [name, words] = [document.createElement("dt"), document.createElement("dd")];
      name.append(Object.assign(document.createElement("kbd"), { textContent: key }));
      words.textContent = what;
      names.append(name, words);
    }
    const close = Object.assign(document.createElement("button"), { textContent: "Close" });
    close.addEventListener("click", () => help.close());
    help.append(Object.assign(document.createElement("h2"), { textContent: "Keyboard shortcuts" }), names, close);
    help.addEventListener("click", (event) => { if (event.target === help) help.close(); });
    document.body.append(help);
  }
  if (!help.open) help.showModal();
}
function step(by) {
  const links = [...document.querySelectorAll("main tbody tr")].map((row) => row.querySelector("a[href]")).filter((link) => link?.checkVisibility());
  const here = links.findIndex((link) => link.closest("tr").contains(document.activeElement));
  const next = links[here < 0 ? (by > 0 ? 0 : links.length - 1) : Math.max(0, Math.min(here + by, links.length - 1))];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select, dialog")) return;
  if (event.key === "j" || event.key === "k") step(event.key === "j" ? 1 : -1);
  else if (event.key === "?") showKeys();
  else return;
  event.preventDefault();
});
for (const button of document.querySelectorAll("[data-shortcuts]")) {
  button.hidden = false;
  button.addEventListener("click", showKeys);
}

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
