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

function keys() {
  const keyed = () => [...document.querySelectorAll("[data-key]")];
  const writing = (target) => target.closest("input, textarea, select");
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") { document.body.classList.remove("keys"); return; }
    if (writing(event.target)) return;
    if (event.key === "?") { document.body.classList.toggle("keys"); return; }
    const one = keyed().find((place) => place.dataset.key === event.key);
    if (!one) return;
    event.preventDefault();
    if (one.matches("input")) one.focus(); else one.click();
  });
}

function refresh() {
  const every = Number(document.body.dataset.refresh || 0);
  if (every) setTimeout(() => { if (document.visibilityState === "visible" && !document.querySelector(":focus-within form input")) location.reload(); else refresh(); }, every * 1000);
}

function ask() {
  const period = document.querySelector(".asked select");
  period?.addEventListener("change", () => period.form.requestSubmit());
}

document.documentElement.classList.add("js");
fold(); keys(); ask(); refresh();
dark.addEventListener("change", draw);
draw();
