// What a page must not show; each returns a list of what is wrong.

// Text below the contrast that WCAG 2 asks of small text, with its place and ratio.
function lowContrast(least) {
  const channels = (colour) => {
    const [r, g, b, a = 1] = colour.match(/[\d.]+/g).map(Number);
    return colour.startsWith("color(") ? [r * 255, g * 255, b * 255, a] : [r, g, b, a];
  };
  const over = ([r, g, b, a], under) => [r, g, b].map((c, i) => c * a + under[i] * (1 - a));
  const light = (rgb) => {
    const [r, g, b] = rgb.map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    const above = element.parentElement ? behind(element.parentElement) : [255, 255, 255];
    return over(channels(getComputedStyle(element).backgroundColor), above);
  };
  const faded = (element) => element ? getComputedStyle(element).opacity * faded(element.parentElement) : 1;
  const wrong = [];
  const judge = (element, colour, text) => {
    const ground = behind(element), [r, g, b, a] = channels(colour);
    const [high, low] = [light(over([r, g, b, a * faded(element)], ground)), light(ground)].sort((x, y) => y - x);
    const ratio = (high + 0.05) / (low + 0.05);
    if (ratio < least) wrong.push(`${ratio.toFixed(2)} ${element.tagName}.${element.className}: ${text.slice(0, 40)}`);
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement, text = walker.currentNode.data.trim();
    if (!text || !element.checkVisibility({ visibilityProperty: true }) || element.closest("script, noscript")) continue;
    const style = getComputedStyle(element);
    judge(element, element.closest("svg") ? style.fill : style.color, text);
  }
  for (const field of document.querySelectorAll("input:not([type=hidden]), textarea")) {
    judge(field, getComputedStyle(field).color, field.name);
    if (field.placeholder) judge(field, getComputedStyle(field, "::placeholder").color, field.placeholder);
  }
  return wrong;
}

// Elements that stick out of the page on the right.
function tooWide() {
  const root = document.documentElement;
  if (root.scrollWidth <= root.clientWidth) return [];
  const out = [...document.body.querySelectorAll("*")].filter((it) => it.getBoundingClientRect().right > root.clientWidth + 1);
  return [`${root.scrollWidth} of ${root.clientWidth} px`, ...out.slice(0, 5).map((it) => `${it.tagName}.${it.className}`)];
}

// Elements that a memory must not be able to make.
function foreign(origin) {
  const own = (address) => address.startsWith(origin + "/");
  return [...document.querySelectorAll("*")].filter((it) => {
    if ([...it.attributes].some(({ name }) => name.startsWith("on") || name === "style" || name === "srcdoc")) return true;
    if (it.matches("script")) return it.textContent || !own(it.src);
    if (it.matches("link")) return !own(it.href);
    if (it.matches("form")) return !own(it.action);
    if (it.matches("a")) return it.hasAttribute("href") && !["http:", "https:", "mailto:"].includes(it.protocol);
    return it.matches("iframe, object, embed, base, img, video, audio, source, style, template, math, marquee, frame, dialog, use, image, animate, set, foreignObject");
  }).map((it) => it.outerHTML.slice(0, 200));
}

// What a person with a keyboard or a screen reader would miss.
function withoutName() {
  const named = (it) => it.ariaLabel || it.innerText?.trim() || it.labels?.[0]?.innerText.trim() || it.title;
  const wrong = [...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary, meter, progress")]
    .filter((it) => it.checkVisibility() && !named(it)).map((it) => it.outerHTML.slice(0, 120));
  const ids = [...document.querySelectorAll("[id]")].map((it) => it.id);
  wrong.push(...ids.filter((id, i) => ids.indexOf(id) !== i).map((id) => `twice: #${id}`));
  if (document.querySelectorAll("h1").length !== 1) wrong.push("not one h1");
  return wrong;
}

// Everything that Tab should reach, in the order of the page; what was reached is written down.
function listenForFocus() {
  window.reached = [];
  document.addEventListener("focusin", ({ target }) => {
    const { outlineStyle, boxShadow } = getComputedStyle(target);
    window.reached.push([target, outlineStyle !== "none" || boxShadow !== "none"]);
  });
  window.wanted = [...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary")]
    .filter((it) => it.checkVisibility({ visibilityProperty: true }) && it.tabIndex >= 0 && !it.disabled);
  return window.wanted.length;
}

function missedByTab() {
  const order = window.reached.map(([target]) => target);
  const wrong = window.wanted.filter((it) => !order.includes(it)).map((it) => `not reached: ${it.outerHTML.slice(0, 120)}`);
  wrong.push(...window.reached.filter(([, seen]) => !seen).map(([it]) => `focus not seen: ${it.outerHTML.slice(0, 120)}`));
  const places = order.map((it) => window.wanted.indexOf(it)).filter((at) => at >= 0);
  const jump = places.findIndex((at, i) => i && at < places[i - 1] && at !== 0);
  if (jump > 0) wrong.push(`out of order: ${order[jump].outerHTML.slice(0, 120)}`);
  return wrong;
}
