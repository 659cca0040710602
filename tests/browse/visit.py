"""What is found when somebody looks at a page: what axe says, what the console says, who was asked, what was drawn, what the keyboard reaches."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, Page

from tests.browser import drawn

AXE = Path(__file__).resolve().parents[2] / ".servers/node/node_modules/axe-core/axe.min.js"
# All rules but those that are experimental; colour contrast, best practice and the size of targets among them.
RUN_AXE = """async () => {
  const found = await axe.run(document, {resultTypes: ["violations", "passes"], rules: {"target-size": {enabled: true}}});
  return {
    passes: found.passes.map((one) => one.id),
    violations: found.violations.map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | ")}`),
  };
}"""
SHAPE = """() => {
  const root = document.documentElement;
  const shown = (one) => one.checkVisibility({contentVisibilityAuto: true});
  const text = (one) => one.textContent.replace(/\\s+/g, " ").trim();
  const marks = (one) => [...one.querySelectorAll(".role-mark path, .role-mark line, .role-mark text")];
  const real = (mark) => { const box = mark.getBBox(); return box.width > 0 || box.height > 0; };
  return {
    title: text(document.querySelector("h1")),
    wide: root.scrollWidth - root.clientWidth,
    charts: document.querySelectorAll("[data-chart]").length,
    undrawn: [...document.querySelectorAll("[data-chart]")].filter((one) => !marks(one).some(real)).map((one) => one.dataset.chart),
    tables: [...document.querySelectorAll("table")].length,
    hiddenTables: [...document.querySelectorAll("table")].filter((one) => !shown(one)).length,
    loose: [...document.querySelectorAll(".money")]
      .filter((one) => /[1-9]/.test(text(one)) && !one.querySelector("a[href]"))
      .map((one) => text(one.closest("tr"))),
    bareFigures: [...document.querySelectorAll(".figures > div")]
      .filter((one) => /\\d\\.\\d\\d [A-Z]{3}$/.test(text(one.querySelector("dd").firstChild)) && !one.querySelector("dd > a[href]"))
      .map(text),
    links: Object.fromEntries([...document.querySelectorAll("footer a")].map((one) => [text(one), one.getAttribute("href")])),
    command: text(document.querySelector("footer code") ?? document.createElement("p")),
    outside: [...document.querySelectorAll("[src], link[href]")].map((one) => one.src || one.href).filter((one) => new URL(one).origin !== location.origin),
  };
}"""
WATCH_FOCUS = """() => {
  const one = "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']";
  const usable = (place) => place.checkVisibility({checkVisibilityCSS: true}) && place.getClientRects().length > 0 && !place.disabled;
  const all = [...document.querySelectorAll(one)].filter((place) => usable(place) && place.tabIndex >= 0);
  window.focused = new Set(); window.unseen = [];
  document.addEventListener("focusin", (event) => {
    const style = getComputedStyle(event.target), box = event.target.getBoundingClientRect();
    window.focused.add(event.target);
    const ringed = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
    if (!ringed || box.width < 1 || box.height < 1) window.unseen.push(event.target.outerHTML.slice(0, 120));
  });
  window.expected = all;
  window.parts = 4 * all.filter((place) => /date|month|week|time/.test(place.type)).length;  // their parts are stops, too, at most so many
  return all.length + window.parts;
}"""
FOCUS_FOUND = """() => ({
  missed: window.expected.filter((one) => !window.focused.has(one)).map((one) => one.outerHTML.slice(0, 120)),
  unseen: window.unseen,
  left: document.activeElement === document.body || window.expected.indexOf(document.activeElement) <= window.parts,
})"""


@dataclass
class Visit:
    """One page in one look."""

    page: Page
    status: int = 0
    said: list[str] = field(default_factory=list)  # in the console, or thrown
    strays: list[str] = field(default_factory=list)  # requests to others
    weights: dict[str, int] = field(default_factory=dict)  # bytes over the wire by path

    def axe(self) -> dict[str, list[str]]:
        self.page.evaluate(AXE.read_text("utf-8"))
        found: dict[str, list[str]] = self.page.evaluate(RUN_AXE)
        return found

    def shape(self) -> dict[str, Any]:
        found: dict[str, Any] = self.page.evaluate(SHAPE)
        return found

    def tabbed(self) -> dict[str, Any]:
        """Through the whole page by the Tab key alone."""
        count = self.page.evaluate(WATCH_FOCUS)
        for _ in range(count + 1):
            self.page.keyboard.press("Tab")
        found: dict[str, Any] = self.page.evaluate(FOCUS_FOUND)
        return found


@contextmanager
def visiting(context: BrowserContext, address: str, path: str, *, script: bool = True) -> Iterator[Visit]:
    page = context.new_page()
    visit = Visit(page)
    page.on("console", lambda message: visit.said.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: visit.said.append(f"thrown: {error}"))
    page.on(
        "request", lambda asked: None if asked.url.startswith((address, "data:")) else visit.strays.append(asked.url)
    )
    try:
        answer = page.goto(address + path)
        visit.status = answer.status if answer else 0
        if script:
            drawn(page)
        yield visit
    finally:
        page.close()
