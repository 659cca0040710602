"""What people do with a page: keys, the theme, the pointer, the printer. And what it weighs."""

from playwright.sync_api import expect

from tests.browse.conftest import Looking
from tests.browse.visit import visiting
from tests.browser import Look, Served, drawn

HERE = "/?period=2026-10"
SCRIPTS, BUNDLE = 100_000, 1_200_000  # bytes over the wire, without the charts' bundle and with it


def test_keys_lead_on_and_can_be_read_and_turned_off(served: Served, contexts: Looking) -> None:
    with visiting(contexts(Look()), served.address, HERE) as visit:
        page = visit.page
        page.keyboard.press("/")
        expect(page.locator("#search")).to_be_focused()
        page.keyboard.type("?t")
        expect(page.locator("#search")).to_have_value("?t")
        page.keyboard.press("Escape")
        expect(page.locator("#search")).not_to_be_focused()
        page.keyboard.press("?")
        expect(page.get_by_role("dialog")).to_be_visible()
        assert visit.axe()["violations"] == []
        page.get_by_label("Single keys do this").uncheck()
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).not_to_be_visible()
        page.keyboard.press("t")
        assert page.url.startswith(served.address + HERE)
        page.evaluate("localStorage.clear()")
        page.keyboard.press("t")
        page.wait_for_url("**/teams?*")
        assert visit.said == []


def test_the_skip_link_leads_past_the_navigation(served: Served, contexts: Looking) -> None:
    with visiting(contexts(Look()), served.address, HERE) as visit:
        visit.page.keyboard.press("Tab")
        expect(visit.page.locator(".skip")).to_be_in_viewport()
        visit.page.keyboard.press("Enter")
        visit.page.keyboard.press("Tab")
        assert visit.page.evaluate("document.activeElement.closest('main') !== null")


def test_the_theme_is_the_systems_until_another_is_chosen(served: Served, contexts: Looking) -> None:
    paper = "getComputedStyle(document.body).backgroundColor"
    label = "getComputedStyle(document.querySelector('.vega .role-axis-label text')).fill"
    with visiting(contexts(Look()), served.address, HERE) as visit:
        page, button = visit.page, visit.page.get_by_role("button", name="Dark theme")
        light, ink = page.evaluate(paper), page.evaluate(label)
        button.click()
        expect(button).to_have_attribute("aria-pressed", "true")
        dark = page.evaluate(paper)
        assert dark != light
        assert page.evaluate(label) != ink
        page.reload()
        assert page.evaluate(paper) == dark
        button.click()
        assert page.evaluate("[document.documentElement.dataset.theme, localStorage.theme]") == [None, None]
        assert page.evaluate(paper) == light


def test_a_bar_tells_its_figure_without_a_style_of_its_own(served: Served, contexts: Looking) -> None:
    with visiting(contexts(Look()), served.address, HERE) as visit:
        visit.page.locator(".vega .role-mark path").first.hover()
        expect(visit.page.locator("#vg-tooltip-element")).to_contain_text("USD")
        assert visit.page.evaluate("document.querySelectorAll('style').length") == 0
        assert visit.said == []


def test_what_is_not_complete_is_hatched(served: Served, contexts: Looking) -> None:
    """The running month's last day, and every day that a price of its own is missing for."""
    with visiting(contexts(Look()), served.address, "/live") as visit:
        values = visit.page.evaluate(
            "[...document.querySelectorAll('.vega .role-mark path')].filter((one) => one.__data__?.datum?.complete === false).map((one) => one.style.fill)"
        )
        assert values
        assert all(value.startswith("url(") for value in values)
        assert visit.page.locator(".vega pattern").count() > 0


def test_on_paper_charts_and_tables_stay_and_controls_go(served: Served, contexts: Looking) -> None:
    with visiting(contexts(Look(dark=True)), served.address, HERE) as visit:
        page = visit.page
        page.emulate_media(media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        expect(page.locator("header")).not_to_be_visible()
        expect(page.locator("footer ul")).not_to_be_visible()
        expect(page.locator(".vega svg").first).to_be_visible()
        expect(page.locator(".beside table").first).to_be_visible()
        assert page.evaluate("getComputedStyle(document.querySelector('h1')).color") == "rgb(27, 33, 38)"
        assert page.pdf().startswith(b"%PDF")


def test_forced_colours_and_a_narrow_window_lose_nothing(served: Served, contexts: Looking) -> None:
    with visiting(contexts(Look()), served.address, HERE) as visit:
        visit.page.emulate_media(forced_colors="active")
        expect(visit.page.locator(".vega svg").first).to_be_visible()
        visit.page.set_viewport_size({"width": 320, "height": 640})
        drawn(visit.page)
        assert visit.shape()["wide"] <= 0


def test_a_page_is_light(served: Served, contexts: Looking) -> None:
    with visiting(contexts(Look()), served.address, HERE) as visit:
        sizes = visit.page.evaluate(
            "Object.fromEntries(performance.getEntries().filter((one) => one.encodedBodySize).map((one) => [new URL(one.name).pathname, one.encodedBodySize]))"
        )
    bundle = sizes.pop("/static/vega.js")
    assert sum(sizes.values()) < SCRIPTS
    assert sum(sizes.values()) + bundle < BUNDLE
