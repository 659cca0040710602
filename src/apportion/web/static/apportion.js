// Charts, keys, theme and the months. Every page says the same without this.

const root = document.documentElement;
const all = (what, within = document) => [...within.querySelectorAll(what)];

// Colours by name: a chart follows the theme, paper and forced colours without being drawn again.
function themed(spec, width) {
  const ink = "var(--ink)", quiet = "var(--quiet)", line = "var(--line)";
  const sized = { labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal" };
  return {
    ...spec,
    background: "transparent",
    config: {
      font: getComputedStyle(root).fontFamily,
      view: { stroke: null },
      axis: { labelColor: quiet, titleColor: quiet, gridColor: line, domainColor: line, tickColor: line, ...sized },
      legend: { labelColor: ink, titleColor: quiet, ...sized, orient: "bottom", direction: "horizontal", columns: Math.max(2, Math.floor(width / 150)), labelLimit: 110, symbolType: "square", symbolSize: 110, columnPadding: 14 },
      title: { color: ink, subtitleColor: quiet },
      text: { color: ink },
      rule: { color: quiet },
      ...spec.config,
    },
  };
}

// What is not complete is hatched in its own colour. Vega has no patterns: they are put behind its marks.
function hatch(place) {
  const svg = place.querySelector("svg");
  const marks = all(".role-mark path", svg).filter((mark) => mark.__data__?.datum?.complete === false);
  for (const mark of marks) {
    const colour = mark.getAttribute("fill");
    if (!colour || colour === "transparent") continue;
    const id = `${place.dataset.chart}-${colour.replace(/\W/g, "")}`;
    if (!document.getElementById(id)) svg.prepend(pattern(id, colour));
    mark.style.fill = `url(#${id})`;
    mark.style.fillOpacity = 1;
  }
}

function pattern(id, colour) {
  const made = (name, given) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(given)) element.setAttribute(key, value);
    return element;
  };
  const place = made("pattern", { id, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" });
  place.append(made("rect", { width: 6, height: 6, fill: colour, "fill-opacity": 0.22 }), made("rect", { width: 2.5, height: 6, fill: colour }));
  return place;
}

async function draw() {
  const places = all("[data-chart]");
  if (!places.length) return;
  await import("/static/vega.js");
  for (const place of places) {
    const spec = JSON.parse(document.getElementById(place.dataset.chart).textContent);
    const options = { ast: true, actions: false, renderer: "svg", defaultStyle: false, tooltip: { theme: "custom", disableDefaultStyle: true } };
    const { view } = await window.vegaEmbed(place, themed(spec, place.clientWidth), options);
    place.querySelector("svg")?.setAttribute("aria-hidden", "true");
    hatch(place);
    view.addResizeListener(() => hatch(place));
    place.dataset.drawn = "yes";
  }
}

const OFF = "keys-off";
const keyed = () => all("[data-key]");

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
  close.addEventListener("click", () => panel.dispatchEvent(new Event("cancel")));
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
  const hide = () => { panel.close(); document.body.classList.remove("keys"); opener.focus(); };
  panel.addEventListener("cancel", hide);
  opener.addEventListener("click", () => {
    if (panel.open) { hide(); return; }
    document.body.classList.add("keys");
    panel.show();
    panel.querySelector("button").focus();
  });
  const writing = (target) => target.closest("input:not([type=checkbox]), textarea, select");
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && panel.open) { hide(); return; }
    if (event.key === "Escape" && writing(event.target)) { event.target.blur(); return; }
    if (writing(event.target) || localStorage.getItem(OFF)) return;
    const one = keyed().find((place) => place.dataset.key === event.key);
    if (!one) return;
    event.preventDefault();
    if (one.matches("input")) one.focus(); else one.click();
  });
}

function hits() {
  const found = all("[data-page=search] tbody th a");
  if (!found.length) return;
  document.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const place = found.indexOf(document.activeElement);
    if (!step || (place < 0 && !event.target.matches("[name=q], body"))) return;
    event.preventDefault();
    if (place + step < 0) document.querySelector("main [name=q]").focus(); else found[Math.min(place + step, found.length - 1)].focus();
  });
}

// The system's theme until another is chosen; choosing the system's own again follows it from then on.
function theme() {
  const button = document.getElementById("theme");
  if (!button) return;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const now = () => root.dataset.theme ?? (system.matches ? "dark" : "light");
  const say = () => button.setAttribute("aria-pressed", String(now() === "dark"));
  button.hidden = false;
  button.addEventListener("click", () => {
    const next = now() === "dark" ? "light" : "dark";
    const own = next === (system.matches ? "dark" : "light");
    if (own) delete root.dataset.theme; else root.dataset.theme = next;
    try { if (own) localStorage.removeItem("theme"); else localStorage.setItem("theme", next); } catch { /* not remembered */ }
    say();
  });
  system.addEventListener("change", say);
  say();
}

// A table that fits needs no stop of the Tab key.
function stops() {
  for (const one of all(".scroll, pre")) {
    if (one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight) one.tabIndex = 0; else one.removeAttribute("tabindex");
  }
}

function refresh() {
  const every = Number(document.body.dataset.refresh || 0);
  if (!every) return;
  setTimeout(async () => {
    const busy = document.visibilityState !== "visible" || document.activeElement?.closest("form") || document.querySelector("#vg-tooltip-element.visible");
    if (!busy && await moved()) location.reload(); else refresh();
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

function print() {
  let folded = [];
  addEventListener("beforeprint", () => { folded = all("details:not([open])"); for (const one of folded) one.open = true; });
  addEventListener("afterprint", () => { for (const one of folded) one.open = false; });
}

theme(); keys(); hits(); ask(); refresh(); print(); stops();
addEventListener("resize", stops);
document.addEventListener("toggle", stops, true);
draw();
