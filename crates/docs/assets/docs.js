// Comfort only: every page works without it.
"use strict";

// A browser lets a page copy only over HTTPS and on its own machine.
for (const block of navigator.clipboard ? document.querySelectorAll(".code") : []) {
  const button = document.createElement("button");
  Object.assign(button, { type: "button", textContent: "Copy" });
  button.addEventListener("click", async () => {
    const copied = await navigator.clipboard.writeText(block.querySelector("code").textContent).then(() => true, () => false);
    button.textContent = copied ? "Copied" : "Not copied";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  block.append(button);
}

const search = document.querySelector(".find input");
document.addEventListener("keydown", (event) => {
  const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName);
  const wanted = event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey;
  if (wanted || (event.key === "k" && (event.ctrlKey || event.metaKey))) {
    event.preventDefault();
    search.focus();
    search.select();
  }
});
