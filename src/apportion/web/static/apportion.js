// Charts, keys and folding. Every page says the same without this.

const dark = matchMedia("(prefers-color-scheme: dark)");

function themed(spec) {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  const ink = colour("--ink"), quiet = colour("--quiet"), line = colour("--line");
  const font = style.fontFamily;
  return {
    ...spec,
    background: "transparent",
    config: {
      ...spec.config,
      font,
      view: { stroke: null },
      axis: { labelColor: quiet, titleColor: quiet, gridColor: line, domainColor: line, tickColor: line, labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal" },
      legend: { labelColor: ink, titleColor: quiet, labelFontSize: 12, titleFontSize: 12, orient: "bottom", columns: 6 },
      text: { color: ink },
      rule: { color: quiet },
    },
  };
}

async function draw() {
  const places = [...document.querySelectorAll("[data-chart]")];
  if (!places.length) return;
  await import("/static/vega.js");
  for (const place of places) {
    const spec = JSON.parse(document.getElementById(place.dataset.chart).textContent);
    await window.vegaEmbed(place, themed(spec), { ast: true, actions: false, renderer: "svg", defaultStyle: false, tooltip: { theme: "custom", disableDefaultStyle: true } });
    place.dataset.drawn = "yes";
    place.querySelector("svg")?.setAttribute("aria-hidden", "true");
  }
}

function fold() {
  for (const one of document.querySelectorAll("[data-fold]")) one.open = false;
  if (matchMedia("(max-width: 60rem)").matches) document.querySelector("details.menu").open = false;
}

const OFF = "keys-off";
const keyed = () => [...document.querySelectorAll("[data-key]")];

function made(name, text = "", attributes = {}) {
  const one = Object.assign(document.createElement(name), { textContent: text });
  for (const [key, value] of Object.entries(attributes)) one.setAttribute(key, value);
  return one;
}

function described(place) {
  return place.labels?.[0]?.textContent || place.getAttribute("aria-label") || place.textContent;
}

// The keys stand on the things themselves, and as a list for those who do not see them. They can be turned off.
function keyList() {
  const panel = made("dialog", "", { class: "keylist", "aria-labelledby": "keylist-title" });
  const list = made("dl");
  const told = [...keyed().map((place) => [place.dataset.key, described(place)]), ["↓ ↑", "Move over what a search found"], ["Esc", "Close this list"]];
  for (const [key, text] of told) {
    const row = made("div");
    row.append(made("dt", key), made("dd", text));
    list.append(row);
  }
  const label = made("label"), box = made("input", "", { type: "checkbox" });
  box.checked = !localStorage.getItem(OFF);
  box.addEventListener("change", () => { if (box.checked) localStorage.removeItem(OFF); else localStorage.setItem(OFF, "yes"); });
  label.append(box, " Single keys do this");
  const close = made("button", "Close", { type: "button" });
  close.addEventListener("click", () => panel.close());
  panel.append(made("h2", "Keys", { id: "keylist-title" }), list, label, close);
  return panel;
}

function keys() {
  const opener = made("button", "Keys", { type: "button", "data-key": "?", "aria-haspopup": "dialog" });
  const item = made("li");
  item.append(opener);
  document.querySelector("footer ul")?.append(item);
  const panel = keyList();
  document.body.append(panel);
  for (const place of keyed()) place.setAttribute("aria-keyshortcuts", place.dataset.key);
  panel.addEventListener("close", () => { document.body.classList.remove("keys"); opener.focus(); });
  opener.addEventListener("click", () => {
    if (panel.open) { panel.close(); return; }
    document.body.classList.add("keys");
    panel.show();
    panel.querySelector("button").focus();
  });
  const writing = (target) => target.closest("input:not([type=checkbox]), textarea, select");
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && panel.open) { panel.close(); return; }
    if (writing(event.target) || localStorage.getItem(OFF)) return;
    const one = keyed().find((place) => place.dataset.key === event.key);
    if (!one) return;
    event.preventDefault();
    if (one.matches("input")) one.focus(); else one.click();
  });
}

function hits() {
  const found = [...document.querySelectorAll("[data-page=search] tbody th a")];
  if (!found.length) return;
  document.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const place = found.indexOf(document.activeElement);
    if (!step || (place < 0 && !event.target.matches("[name=q], body"))) return;
    event.preventDefault();
    if (place + step < 0) document.querySelector("main [name=q]").focus(); else found[Math.min(place + step, found.length - 1)].focus();
  });
}

function refresh() {
  const every = Number(document.body.dataset.refresh || 0);
  if (!every) return;
  setTimeout(async () => {
    const seen = document.visibilityState === "visible" && !document.querySelector(":focus-within form input");
    if (seen && await moved()) location.reload(); else refresh();
  }, every * 1000);
}

// Whether the page would say something else now.
async function moved() {
  const state = document.body.dataset.state;
  if (!state) return true;
  const url = new URL(document.querySelector("footer a[data-json]").href);
  url.searchParams.set("since", state);
  try { return (await fetch(url)).status === 200; } catch { return false; }
}

function ask() {
  const period = document.querySelector(".asked select");
  period?.addEventListener("change", () => period.form.requestSubmit());
}

document.documentElement.classList.add("js");
fold(); keys(); hits(); ask(); refresh();
dark.addEventListener("change", draw);
draw();
