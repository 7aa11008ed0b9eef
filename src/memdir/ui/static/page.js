"use strict";
// The page works without this: keys, parts that are loaded when they are opened, and less clicking.
(() => {
  const all = (words, under = document) => [...under.querySelectorAll(words)];

  for (const button of all("[data-noscript]")) button.hidden = true;
  for (const field of all("[data-submit]")) field.addEventListener("change", () => field.form.requestSubmit());

  for (const details of all("details[data-part]")) {
    details.addEventListener("toggle", async () => {
      if (!details.open || details.dataset.done) return;
      details.dataset.done = "1";
      const part = details.querySelector(".part");
      try {
        const answer = await fetch(details.dataset.part);
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        if (answer.ok) part.replaceChildren(...page.querySelector("main > .part").childNodes);
      } catch { /* the link in it stays */ }
    });
  }

  if (document.querySelector("[data-poll]")) setTimeout(() => location.reload(), 1500);

  const items = all("[data-item]");
  let at = -1;
  const move = (step) => {
    if (!items.length) return;
    items[at]?.classList.remove("at");
    at = Math.min(Math.max(at + step, 0), items.length - 1);
    items[at].classList.add("at");
    items[at].focus({ preventScroll: true });
    items[at].scrollIntoView({ block: "nearest" });
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input, textarea, select")) return;
    if (event.key === "j") move(1);
    else if (event.key === "k") move(-1);
    else if (["a", "e", "r"].includes(event.key) && at >= 0) items[at].querySelector(`[data-key="${event.key}"]`)?.click();
    else return;
    event.preventDefault();
  });
})();
