"""What a report page does in a browser: it draws, sorts, toggles, turns dark, and lets nothing in or out."""

import base64
import csv
import hashlib
import json
import re

import pytest
from conftest import HARMFUL, HARMFUL_SETS, SCREENSHOTS
from limits import at_rest

ALL = ["demo", "harmful", "clean", "harmful-compare", "clean-compare", "harmful-reproduce", "clean-reproduce", "wide", "direct",
       "noise", "tiny", "long"]
SELECT = ["harmful", "clean", "wide", "direct"]
MARKS = """() => [...document.querySelectorAll('.plot')].map(plot =>
    [plot.id, plot.querySelectorAll('svg [class*="mark-"] path, svg [class*="mark-"] line').length])"""


def wait_until(opened, condition):
    """Asked from outside: wait_for_function would evaluate it within the page, which the page forbids."""
    for _ in range(100):
        if opened.eval(f"() => {condition}"):
            return
        opened.page.wait_for_timeout(100)
    raise AssertionError(f"never: {condition}")


@pytest.mark.parametrize("name", ALL)
def test_every_figure_draws_and_nothing_complains(pages, open_page, name):
    opened = open_page(pages[name])
    figures = opened.eval("JSON.parse(document.getElementById('figures').textContent).length")
    marks = opened.eval(MARKS)
    assert figures == len(marks) >= 2
    assert all(count > 2 for _, count in marks), marks
    assert opened.page.locator(".failed").count() == 0
    assert opened.complaints == []
    assert [url for url in opened.requests if not url.startswith("data:")] == [pages[name].as_uri()]


@pytest.mark.parametrize("name", ALL)
def test_every_page_names_its_command_and_no_folder(pages, open_page, name):
    opened = open_page(pages[name])
    command = opened.page.locator(".origin code").first.inner_text()
    assert command.startswith("tamis ") and str(pages[name].parent.parent) not in opened.eval("document.body.innerText")


@pytest.mark.parametrize("name", ALL)
def test_small_and_soon(pages, open_page, name):
    assert pages[name].stat().st_size < 1.5e6
    assert int(open_page(pages[name]).eval("document.documentElement.dataset.firstFigure")) < at_rest(2000)


def test_policy_lets_in_exactly_the_scripts_and_styles_of_the_page(pages):
    html = pages["harmful"].read_bytes()
    policy = re.search(rb'http-equiv="Content-Security-Policy" content="([^"]*)"', html).group(1).decode()
    assert "unsafe" not in policy and policy.startswith("default-src 'none';")
    parts = dict(part.strip().split(" ", 1) for part in policy.split(";"))

    def hashes(bodies):
        return {"'sha256-" + base64.b64encode(hashlib.sha256(body).digest()).decode() + "'" for body in bodies}

    scripts = re.findall(rb"<script>(.*?)</script>", html, re.S)
    assert len(scripts) == 4 and hashes(scripts) == set(parts["script-src"].split())
    styles = re.findall(rb"<style>(.*?)</style>", html, re.S)
    assert len(styles) == 1 and hashes(styles) == set(parts["style-src"].split())


def test_a_script_that_gets_in_does_not_run(pages, open_page, tmp_path):
    harm = "<script>window.ran = 1</script><img src=x onerror='ran=2'>"
    harmed = pages["clean"].read_text(encoding="utf-8").replace("<main", harm + "<main", 1)
    (tmp_path / "report.html").write_text(harmed, encoding="utf-8")
    opened = open_page(tmp_path / "report.html")
    assert opened.eval("window.ran === undefined")
    assert any("policy" in complaint for complaint in opened.complaints)
    with pytest.raises(Exception, match="unsafe-eval|Content Security Policy"):
        opened.page.add_script_tag(content="window.ran = eval('1')")


# --- Names that mean harm -------------------------------------------------------------------------------------------

ELEMENTS = """() => { const counts = {};
    for (const one of document.querySelectorAll('*')) {
        const tag = one.localName;
        if (one.matches('code > span')) continue;  // a word of a command, of which a name may have several
        if (!['path', 'text', 'line', 'g', 'rect', 'tspan'].includes(tag)) counts[tag] = (counts[tag] || 0) + 1;
        for (const attribute of one.attributes) if (attribute.name.startsWith('on')) counts[attribute.name] = 1;
    }
    return counts; }"""


@pytest.mark.parametrize("kind", ["", "-compare", "-reproduce"])
def test_harmful_names_add_no_element(pages, open_page, kind):
    harmful, clean = open_page(pages["harmful" + kind]), open_page(pages["clean" + kind])
    assert harmful.eval(ELEMENTS) == clean.eval(ELEMENTS)
    assert harmful.complaints == []
    assert harmful.eval("Object.keys(Object.prototype).length === 0 && ({}).x === undefined")
    text = harmful.eval("document.body.innerText")
    assert "\x1b" not in text and "\u202e" not in text and "l" * 100 not in text
    if kind == "-reproduce":
        assert all(name in text for name in HARMFUL_SETS)
    if kind:
        return  # a comparison names the best features only
    for name in ("<script>alert(1)</script>", "{{7*7}}", "__proto__", "\\x1b[31mred", "(empty name)", "&lt;b&gt;"):
        assert name in text, name


def test_harmful_names_are_the_labels_of_the_heat_map(pages, open_page):
    opened = open_page(pages["harmful"])
    labels = set(opened.eval("""() => [...document.querySelectorAll('.plot')].flatMap(plot =>
        [...plot.querySelectorAll('svg .role-axis-label text')].map(text => text.textContent))"""))
    assert {"__proto__", "{{7*7}}", "constructor", "toString", "(empty name)"} <= labels
    assert any(label.startswith("<script>") for label in labels)


def test_harmful_names_in_tooltips(pages, open_page):
    opened = open_page(pages["harmful"])
    plot = next(plot for plot, count in opened.eval(MARKS) if count >= (len(HARMFUL) - 1) ** 2)
    cells = opened.page.locator(f"#{plot} .mark-rect path")
    seen = set()
    for position in range(0, cells.count(), len(HARMFUL) + 1):  # the diagonal
        cells.nth(position).hover()
        rows = opened.eval("[...document.querySelectorAll('#tip:not([hidden]) td')].map(cell => cell.innerHTML)")
        assert len(rows) == 6
        seen.add(rows[1])
    assert {"__proto__", "{{7*7}}", "&lt;script&gt;alert(1)&lt;/script&gt;"} <= seen
    assert opened.eval("document.querySelectorAll('#tip *:not(table):not(tbody):not(tr):not(td)').length") == 0
    opened.page.mouse.move(5, 5)
    assert opened.page.locator("#tip").is_hidden()
    assert opened.complaints == []


# --- Tables ---------------------------------------------------------------------------------------------------------

def column(opened, title):
    return opened.eval("""title => { for (const table of document.querySelectorAll('table.sortable')) {
        const at = [...table.tHead.rows[0].cells].findIndex(head => head.textContent === title);
        if (at >= 0) return [...table.tBodies[0].rows].map(row => row.cells[at].textContent); } }""", title)


def test_sorting_by_click(pages, open_page):
    opened = open_page(pages["wide"])
    before = [float(text) for text in column(opened, "score")]
    assert len(before) == 2000 and before == sorted(before, reverse=True)
    head = opened.page.locator("th", has=opened.page.get_by_role("button", name="score", exact=True)).first
    button = head.get_by_role("button")
    assert head.get_attribute("aria-sort") == "none"
    button.click()
    assert head.get_attribute("aria-sort") == "descending" and [float(text) for text in column(opened, "score")] == before
    button.click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert [float(text) for text in column(opened, "score")] == sorted(before)
    assert "score" in opened.page.locator("#said").inner_text()
    assert opened.page.locator('th[aria-sort="ascending"], th[aria-sort="descending"]').count() == 1


def test_sorting_by_keyboard_and_missing_values_last(pages, open_page):
    opened = open_page(pages["wide"])
    button = opened.page.get_by_role("button", name="r", exact=True).first
    for key, sign in (("Enter", -1), ("Space", 1)):
        button.focus()
        opened.page.keyboard.press(key)
        cells = column(opened, "r")
        numbers = [float(cell.replace("\u2212", "-")) for cell in cells[:100]]
        assert numbers == sorted(numbers, key=lambda value: sign * value) and set(cells[100:]) == {"\u2013"}
    opened.page.get_by_role("button", name="name", exact=True).first.press("Enter")
    names = column(opened, "name")
    assert names == sorted(names, key=lambda name: int(name[1:]))  # f2 before f10


def test_long_tables_are_whole_in_the_document(pages, open_page):
    opened = open_page(pages["wide"])
    assert "2000 of 3000" in opened.page.locator("main").inner_text()
    scroll = opened.page.locator(".scroll.long").first
    low = scroll.bounding_box()["height"]
    assert low < 700 and scroll.get_attribute("tabindex") == "0"
    last = column(opened, "name")[-1]
    assert opened.eval("name => window.find(name)", last)  # find in page reaches the last row
    opened.page.get_by_role("button", name="Show all 2000 rows at once").first.click()
    assert scroll.bounding_box()["height"] > 20 * low


def test_the_table_is_that_of_the_files(pages, open_page):
    opened = open_page(pages["clean"])
    selection = json.loads((pages["clean"].parent / "selection.json").read_text())
    chosen = [name for name, mark in zip(column(opened, "name"), column(opened, "selected")) if mark == "yes"]
    assert chosen == selection["names"]
    ranked = list(csv.DictReader((pages["clean"].parent / "ranking.csv").open()))
    assert column(opened, "redundancy group") == [row["group"] or "\u2013" for row in ranked]
    assert len(selection["redundancy"]["groups"]) > 0
    comparison = json.loads((pages["clean-compare"].parent / "comparison.json").read_text())
    cells = column(open_page(pages["clean-compare"]), "ACC")
    accuracy = comparison["methods"][0]["sizes"][0]["accuracy"]
    assert cells[0] == f"{100 * accuracy['mean']:.1f}\u202f% \u00b1 {100 * accuracy['sd']:.1f}\u202f%"


def test_stability_is_a_column_only_if_it_was_measured(pages, open_page):
    assert column(open_page(pages["clean"]), "stable") is None
    stability = json.loads((pages["direct"].parent / "selection.json").read_text())["stability"]
    stable = column(open_page(pages["direct"]), "stable")
    assert len(stable) == 2000 and {cell.split("\u202f")[0] for cell in stable} <= {"0", "33", "67", "100"}
    assert stable[0] == f"{100 * max(stability['frequency']):.0f}\u202f%"


# --- Figures --------------------------------------------------------------------------------------------------------

LINES = "document.querySelectorAll('#plot-1 .mark-line path').length"


def test_legend_toggles(pages, open_page):
    opened = open_page(pages["clean-compare"])
    before = opened.eval(LINES)
    buttons = opened.page.locator("#legend-1 button")
    assert before == buttons.count() == 5 and buttons.nth(0).inner_text().strip() == "ufcm"
    buttons.nth(0).click()
    assert opened.eval(LINES) == before - 1 and buttons.nth(0).get_attribute("aria-pressed") == "false"
    buttons.nth(1).press("Space")
    assert opened.eval(LINES) == before - 2
    opened.page.locator("#theme").click()  # a new drawing keeps what is off
    assert opened.eval(LINES) == before - 2 and buttons.nth(0).get_attribute("aria-pressed") == "false"
    buttons.nth(0).click()
    buttons.nth(1).click()
    assert opened.eval(LINES) == before
    assert opened.eval("document.querySelectorAll('#plot-2 .mark-line path').length") == before  # the other figure is its own


def test_tooltip_of_a_point(pages, open_page):
    opened = open_page(pages["clean-compare"])
    tip = opened.page.locator("#tip")
    opened.page.locator("#plot-1 .mark-symbol path").last.hover()  # drawn last, so on top
    assert "all features" in tip.inner_text() and "none" in tip.inner_text() and "NaN" not in tip.inner_text()
    for button in opened.page.locator("#legend-1 button").all()[1:]:
        button.click()
    opened.page.locator("#plot-1 .mark-symbol path").first.hover()
    assert "ufcm" in tip.inner_text() and "ACC" in tip.inner_text() and "% to " in tip.inner_text()


def test_figures_can_be_saved(pages, open_page):
    opened = open_page(pages["harmful"])
    with opened.page.expect_download() as download:
        opened.page.locator("#tools-1 button").click()
    assert download.value.suggested_filename == "figure-1.svg"
    svg = download.value.path().read_text()
    assert svg.startswith("<svg") and "mark-line" in svg and "<script" not in svg and opened.complaints == []


# --- Clusters -------------------------------------------------------------------------------------------------------

def test_why_is_said_in_words_and_bars(pages, open_page):
    opened = open_page(pages["wide"])
    assert re.fullmatch(r"high in cluster \d \(mean \S+\), low in \d \(\S+\)", column(opened, "why")[0])
    bars = opened.eval("""() => { const cell = document.querySelector('td.s');
        return [cell.dataset.s.length, cell.querySelector('path').getAttribute('d').split('M').length - 1]; }""")
    assert bars == [3, 3]
    weights = opened.page.locator("details", has_text="Weights")
    assert not weights.locator("table").is_visible()
    weights.locator("summary").click()
    assert "component" in weights.locator("td").nth(2).inner_text()


def test_a_click_shows_the_distribution_of_a_feature(pages, open_page):
    opened = open_page(pages["clean"])
    titles = opened.page.locator("figure h3").all_inner_texts()
    means, spread = titles.index("Means by cluster") + 1, titles.index("Distribution by cluster") + 1
    choices = opened.page.locator(f"#pick-{spread} option").all_inner_texts()
    assert choices == json.loads((pages["clean"].parent / "selection.json").read_text())["names"]
    bars = f"[...document.querySelectorAll('#plot-{spread} .mark-rect path')].map(path => path.getAttribute('d')).join()"
    first = opened.eval(bars)
    clusters = opened.eval(f"document.querySelectorAll('#plot-{means} .mark-rect path').length") // len(choices)
    opened.page.locator(f"#plot-{means} .mark-rect path").nth(2 * clusters).click()
    assert opened.page.locator(f"#pick-{spread}").input_value() == "2" and opened.eval(bars) != first
    opened.page.locator(f"#pick-{spread}").select_option("0")
    assert opened.eval(bars) == first and opened.complaints == []


def test_the_scatter_has_a_point_for_each_row(pages, open_page):
    opened = open_page(pages["clean"])
    place = opened.page.locator("figure h3").all_inner_texts().index("Rows by cluster") + 1
    points = f"document.querySelectorAll('#plot-{place} .mark-symbol path').length"
    assert opened.eval(points) == 120
    assert re.search(r"with \d\d?\d?\xa0% of their variance", opened.page.locator("main").inner_text())
    sizes = json.loads((pages["clean"].parent / "selection.json").read_text())["clusters"]
    opened.page.locator(f"#legend-{place} button").first.click()
    assert opened.eval(points) == 120 - sizes.count(0)


def test_hovering_over_a_pixel_names_it(pages, open_page):
    opened = open_page(pages["demo"])
    picture = opened.page.locator(".images[data-v] img").first
    picture.scroll_into_view_if_needed()
    box = picture.bounding_box()
    opened.page.mouse.move(box["x"] + box["width"] * 3.5 / 8, box["y"] + box["height"] * 2.5 / 8)
    cells = opened.eval("[...document.querySelectorAll('#tip:not([hidden]) td')].map(cell => cell.textContent)")
    values = opened.eval("document.querySelector('.images[data-v]').dataset.v.split(' ')")
    assert cells == ["row", "2", "column", "3", "share", values[2 * 8 + 3]]
    opened.page.mouse.move(2, 2)
    assert opened.page.locator("#tip").is_hidden()


# --- What one does with a table -------------------------------------------------------------------------------------

def test_search_copy_and_save(pages, open_page):
    opened = open_page(pages["harmful"], permissions=["clipboard-read", "clipboard-write"])
    table = opened.page.locator('[aria-label="Features, best first"]')
    bench = opened.page.locator(".table", has=table).locator(".bench")
    rows = """() => [...document.querySelector('[aria-label="Features, best first"] tbody').rows]
        .filter(row => row.offsetHeight).length"""
    every = opened.eval(rows)
    bench.get_by_role("searchbox").fill("ALERT(")
    assert 2 <= opened.eval(rows) < every and f"of {every} rows" in bench.inner_text()
    bench.get_by_role("searchbox").fill("")
    assert opened.eval(rows) == every
    bench.get_by_role("button", name="Copy selected names").click()
    wait_until(opened, "document.getElementById('said').textContent.endsWith('copied')")
    copied = opened.eval("navigator.clipboard.readText()").splitlines()
    chosen = [name for name, mark in zip(column(opened, "name"), column(opened, "selected")) if mark == "yes"]
    assert len(copied) == len(chosen) == 10
    with opened.page.expect_download() as download:
        bench.get_by_role("button", name="Save as CSV").click()
    with open(download.value.path(), newline="", encoding="utf-8") as file:
        lines = list(csv.reader(file))
    assert download.value.suggested_filename == "features-best-first.csv" and len(lines) == 1 + every
    assert lines[0][:4] == ["rank", "feature", "name", "share"]
    assert not any(cell.startswith("=") for line in lines for cell in line)
    assert opened.complaints == []


def test_long_names_are_elided_in_the_middle_and_whole_on_hover(pages, open_page):
    opened = open_page(pages["harmful"])
    cell = opened.page.locator("td", has_text="\u2026").first
    assert len(cell.inner_text()) == 48 and len(cell.get_attribute("title")) == 400


@pytest.mark.parametrize("width", [400, 800, 1000, 1920])
@pytest.mark.parametrize("name", ALL)
def test_no_table_is_cut(pages, open_page, name, width):
    opened = open_page(pages[name], viewport={"width": width, "height": 900})
    opened.eval("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    opened.page.wait_for_timeout(100)
    cut = opened.eval("""() => [...document.querySelectorAll('.scroll')].filter(one => one.scrollWidth > one.clientWidth + 1)
        .map(one => [one.getAttribute('aria-label'), one.scrollWidth, one.clientWidth])""")
    assert cut == [] and opened.eval("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [400, 800, 1280, 1920])
@pytest.mark.parametrize("name", ALL)
def test_no_figure_is_cut_or_shrunk(pages, open_page, name, width):
    # A line of text is a few pixels higher than its letters.
    opened = open_page(pages[name], viewport={"width": width, "height": 900})
    cut = opened.eval("""() => [...document.querySelectorAll('.plot')].flatMap(plot => {
        const svg = plot.querySelector('svg'), box = svg.getBoundingClientRect(), found = [];
        if (svg.viewBox.baseVal.width > plot.clientWidth + 1) found.push([plot.id, svg.viewBox.baseVal.width, plot.clientWidth]);
        for (const one of svg.querySelectorAll('text, .role-legend-gradient path')) {
            const at = one.getBoundingClientRect();
            if (at.width && (at.left < box.left - 4 || at.right > box.right + 4 || at.top < box.top - 4
                             || at.bottom > box.bottom + 4)) found.push([plot.id, one.textContent || 'legend']);
        }
        return found; })""")
    assert cut == []


@pytest.mark.parametrize("width", [400, 800, 1280])
def test_short_labels_tell_long_names_apart(pages, open_page, width):
    opened = open_page(pages["long"], viewport={"width": width, "height": 900})
    titles = opened.page.locator("figure h3").all_inner_texts()
    place = titles.index("Means by cluster") + 1
    labels = opened.eval(f"""() => [...document.querySelectorAll('#plot-{place} .role-axis-label text')]
        .map(text => text.textContent).filter(text => text.includes('\u2026'))""")
    assert len(labels) >= 8 and len(set(labels)) == len(labels) and not any(label.endswith("\u2026") for label in labels)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_labels_of_markers_have_the_paper_behind_them(pages, open_page, scheme):
    opened = open_page(pages["wide"], color_scheme=scheme)
    texts = opened.eval("""() => [...document.querySelectorAll('#plot-1 .mark-text.role-mark text')].map(text =>
        [text.textContent, text.getAttribute('stroke')])""")
    paper = opened.eval("getComputedStyle(document.documentElement).getPropertyValue('--paper').trim()")
    half = len(texts) // 2
    assert [text for text, _ in texts[:half]] == [text for text, _ in texts[half:]] and ["selected: 100", paper] in texts[:half]
    assert {stroke for _, stroke in texts[:half]} == {paper} and paper not in {stroke for _, stroke in texts[half:]}


def test_clusters_of_noise_are_said_to_be_none(pages, open_page):
    opened = open_page(pages["noise"])
    assert opened.page.locator(".lead").inner_text().startswith("No structure found")
    section = opened.page.locator("section", has=opened.page.get_by_role("heading", name="Clusters", exact=True))
    assert section.locator(".note.warning").inner_text().startswith("Warning: No structure was found")


# --- Light, dark, small, on paper -----------------------------------------------------------------------------------

CONTRAST = """() => {
    const shade = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    const light = name => { const hex = shade(name); const parts = [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16) / 255)
        .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]; };
    const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
    return [['--ink', '--paper'], ['--soft', '--paper'], ['--accent', '--paper'], ['--ink', '--raised'], ['--soft', '--raised'],
            ['--warn', '--warn-paper'], ['--ink', '--mark'], ['--soft', '--mark']].map(([a, b]) => [a, b, ratio(a, b)]); }"""
LINE_COLORS = """() => [...document.querySelectorAll('#plot-1 .mark-line path')].map(path => path.getAttribute('stroke'))"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast(pages, open_page, scheme):
    opened = open_page(pages["clean-compare"], color_scheme=scheme)
    for text, paper, ratio in opened.eval(CONTRAST):
        assert ratio >= 4.5, (text, paper, ratio)
    background = opened.eval("getComputedStyle(document.body).backgroundColor")
    paper = [int(part) / 255 for part in re.findall(r"\d+", background)]

    def light(parts):
        linear = [v / 12.92 if v <= 0.03928 else ((v + 0.055) / 1.055) ** 2.4 for v in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for color in opened.eval(LINE_COLORS):
        stroke = [int(color[i:i + 2], 16) / 255 for i in (1, 3, 5)]
        low, high = sorted((light(stroke), light(paper)))
        assert (high + 0.05) / (low + 0.05) >= 3, color


def test_dark_by_wish_and_by_button(pages, open_page):
    background = "getComputedStyle(document.body).backgroundColor"
    light = open_page(pages["clean-compare"], color_scheme="light")
    dark = open_page(pages["clean-compare"], color_scheme="dark")
    colors, papers = [light.eval(LINE_COLORS), dark.eval(LINE_COLORS)], [light.eval(background), dark.eval(background)]
    assert colors[0] != colors[1] and papers[0] == "rgb(255, 255, 255)" != papers[1]
    light.page.locator("#theme").click()
    assert light.eval(background) == papers[1] and light.eval(LINE_COLORS) == colors[1]
    light.page.locator("#theme").click()
    assert light.eval(background) == papers[0] and light.eval(LINE_COLORS) == colors[0]
    assert light.complaints == [] == dark.complaints


@pytest.mark.parametrize("name, width", [*((name, 320) for name in ALL), ("clean", 390), ("clean-compare", 390)])
def test_a_phone_needs_no_sideways_scrolling(pages, open_page, name, width):
    opened = open_page(pages[name], viewport={"width": width, "height": 800}, is_mobile=True, has_touch=True)
    assert opened.eval("document.documentElement.scrollWidth") <= width
    assert all(count > 2 for _, count in opened.eval(MARKS))
    cut = opened.eval("""() => [...document.querySelectorAll('.plot')].filter(plot =>
        plot.querySelector('svg').getBoundingClientRect().right > plot.getBoundingClientRect().right + 1).map(plot => plot.id)""")
    assert cut == []


def test_figures_follow_the_window(pages, open_page):
    opened = open_page(pages["clean-compare"])
    opened.page.set_viewport_size({"width": 700, "height": 900})
    wait_until(opened, "document.querySelector('#plot-1 svg').getBoundingClientRect().width < 690")
    assert opened.eval("document.documentElement.scrollWidth") <= 700


def test_paper_is_light_and_has_the_whole_table_begun(pages, open_page):
    opened = open_page(pages["wide"], color_scheme="dark")
    dark = opened.eval("document.querySelector('#plot-1 .mark-line path').getAttribute('stroke')")
    opened.eval("window.dispatchEvent(new Event('beforeprint'))")
    opened.page.emulate_media(media="print")
    assert opened.eval("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert opened.eval("document.querySelector('#plot-1 .mark-line path').getAttribute('stroke')") != dark
    shown = "[...document.querySelector('.scroll.long tbody').rows].filter(row => row.offsetHeight).length"
    assert opened.eval(shown) == 100 and opened.page.get_by_text("The first 100 of 2000 rows.").first.is_visible()
    opened.page.emulate_media(media="screen")
    opened.eval("window.dispatchEvent(new Event('afterprint'))")
    assert opened.eval("document.querySelector('#plot-1 .mark-line path').getAttribute('stroke')") == dark


# --- The paper's experiments ----------------------------------------------------------------------------------------

def report_of(pages):
    return json.loads((pages["clean-reproduce"].parent / "report.json").read_text())


def test_the_verdict_is_that_of_the_report(pages, open_page):
    opened = open_page(pages["clean-reproduce"])
    rows = [row for row in report_of(pages)["tables"]["acc"]["rows"] if row["method"] == "ufcm"]
    assert opened.page.locator(".note").first.inner_text().startswith("Warning: This is the quick protocol")
    words = opened.page.locator(".verdict p").all_inner_texts()
    for note, prefix, gain, random in zip(words, ("label-best", "label-free"), ("gain", "label_free_gain"),
                                          ("label_best_random", "label_free_random")):
        gains = sum(row[gain] > 0 for row in rows)
        clear = sum(row[gain] > 2 * row[f"{gain}_error"] for row in rows)
        assert f"({prefix}), ufcm improves ACC over all features on {gains} of 3 sets, on {clear} of" in note
        beaten = [row["set"] for row in rows if not row[random]["beats_random"]]
        said = note.split("does not beat random subsets of the same size on ")
        assert re.findall(r"\w+", said[1].replace(" and ", " ")) == beaten if beaten else len(said) == 1


def test_every_number_stands_beside_its_controls(pages, open_page):
    opened = open_page(pages["clean-reproduce"])
    for number, measure in ((2, "acc"), (3, "nmi")):
        rows = report_of(pages)["tables"][measure]["rows"]
        table = opened.page.locator(f'[aria-label^="Table {number}:"] table')
        heads = [head.strip(" \u2195") for head in table.locator("th").all_inner_texts()]
        cells = [[cell.replace("\u202f", " ").replace("\u2212", "-").replace("\n", " ")
                  for cell in row.locator("td").all_inner_texts()]
                 for row in table.locator("tbody tr").all()]
        assert len(cells) == len(rows) == 21

        def both(value, sd):
            return f"{100 * value:.1f} % \u00b1 {100 * sd:.1f} %"

        for row, shown in zip(rows, (dict(zip(heads, one)) for one in cells)):
            best, free, band = row["label_best"], row["label_free"], row["label_best_random"]
            assert (shown["data"], shown["method"]) == (row["set"], row["method"])
            assert shown["label-best"] == both(best["mean"], best["sd"]) and shown["features"] == str(best["features"])
            assert shown["label-free"] == both(free["mean"], free["sd"]) and shown["tried"] == str(row["evaluations"])
            assert shown["median"] == f"{100 * row['grid_median']:.1f} %"
            assert shown["worst"] == f"{100 * row['grid_worst']:.1f} %"
            assert shown["AllFea"] == both(row["allfea"]["mean"], row["allfea"]["sd"])
            assert shown["MaxVar"] == both(row["maxvar"]["mean"], row["maxvar"]["sd"])
            assert shown["random"] == both(band["mean"], band["sd"]) and shown["p"] == f"{band['p']:.3f}"
            assert float(shown["gain"].split()[0]) == pytest.approx(100 * row["gain"], abs=0.051)
            assert shown["paper"] == "\u2013"  # these sets are none of the paper's


def test_figures_have_a_panel_for_each_set(pages, open_page):
    opened = open_page(pages["clean-reproduce"])
    titles = opened.page.locator("figure h3").all_inner_texts()
    for number in range(1, 6):
        place = next(i for i, title in enumerate(titles) if title.startswith(f"Figure {number}:")) + 1
        words = opened.page.locator(f"#plot-{place} svg text").all_text_contents()
        assert [words.count(name) for name in ("first", "second", "third")] == [1, 1, 1], (number, words)
        assert len(opened.page.locator(f"#plot-{place}").get_attribute("aria-label")) > 40


def test_names_of_a_figure_with_panels_switch_lines_in_all_of_them(pages, open_page):
    opened = open_page(pages["clean-reproduce"])
    place = opened.page.locator("figure h3").all_inner_texts().index("Figure 1: ACC by number of features") + 1
    lines = f"document.querySelectorAll('#plot-{place} .mark-line path').length"
    assert opened.eval(lines) == 4 * 3
    opened.page.locator(f"#legend-{place} button", has_text="defaults").click()
    assert opened.eval(lines) == 3 * 3
    assert opened.complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_numbers_in_heat_maps_can_be_read(pages, open_page, scheme):
    opened = open_page(pages["clean-reproduce"], color_scheme=scheme)
    pairs = opened.eval("""() => [...document.querySelectorAll('.plot')].flatMap(plot => {
        const cells = [...plot.querySelectorAll('.mark-rect.role-mark path')],
              texts = [...plot.querySelectorAll('.mark-text.role-mark text')];
        return texts.length === cells.length ? texts.map((text, i) =>
            [getComputedStyle(text).fill, getComputedStyle(cells[i]).fill]) : []; })""")
    assert len(pairs) == 2 * 3 * 4  # two figures, three sets, two by two settings

    def light(color):
        parts = [int(part) / 255 for part in re.findall(r"\d+", color)]
        linear = [v / 12.92 if v <= 0.03928 else ((v + 0.055) / 1.055) ** 2.4 for v in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for text, cell in pairs:
        low, high = sorted((light(text), light(cell)))
        assert (high + 0.05) / (low + 0.05) >= 4.5, (text, cell)


def test_data_and_method_stay_in_view(pages, open_page):
    opened = open_page(pages["clean-reproduce"])
    scroll = opened.page.locator('[aria-label^="Table 2:"]')
    cells = scroll.locator("tbody tr").first.locator("td")
    before = [cells.nth(i).bounding_box()["x"] for i in range(3)]
    scroll.evaluate("one => { one.scrollLeft = 300; }")
    after = [cells.nth(i).bounding_box()["x"] for i in range(3)]
    assert after[:2] == pytest.approx(before[:2], abs=1) and after[2] == pytest.approx(before[2] - 300, abs=1)


@pytest.mark.parametrize("name", ["clean-reproduce", "clean", "clean-compare"])
def test_tables_fit_on_paper(pages, open_page, name):
    opened = open_page(pages[name], viewport={"width": 700, "height": 900})  # that of A4 between its margins
    opened.page.emulate_media(media="print")
    right = opened.eval("[...document.querySelectorAll('.table table')].map(table => table.getBoundingClientRect().right)")
    assert len(right) >= 3 and max(right) <= 700, right


# --- For who does not see it, or has no mouse -----------------------------------------------------------------------

@pytest.mark.parametrize("name", ALL)
def test_alternatives_and_structure(pages, open_page, name):
    opened = open_page(pages[name])
    assert opened.eval("[...document.querySelectorAll('.plot')].every(plot => plot.getAttribute('role') === 'img'"
                       " && plot.getAttribute('aria-label').length > 20)")
    assert opened.eval("[...document.images].every(image => image.alt.length > 20)")
    levels = opened.eval("[...document.querySelectorAll('h1, h2, h3, h4')].map(head => Number(head.localName[1]))")
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in zip(levels, levels[1:]))
    assert opened.eval("document.documentElement.lang") == "en"
    ids = opened.eval("[...document.querySelectorAll('[id]')].map(one => one.id)")
    assert len(ids) == len(set(ids))
    links = opened.eval("[...document.querySelectorAll('a')].map(link => link.getAttribute('href'))")
    assert all(link[0] == "#" and link[1:] in ids for link in links)


def test_keyboard_path(pages, open_page):
    opened = open_page(pages["clean-compare"])
    opened.page.keyboard.press("Tab")
    assert opened.eval("document.activeElement.className") == "skip"
    assert opened.page.locator(".skip").bounding_box()["x"] >= 0
    opened.page.keyboard.press("Enter")
    assert opened.eval("document.activeElement.id") == "main"
    opened.page.keyboard.press("Tab")
    assert opened.eval("document.activeElement.closest('.legend') !== null")
    assert opened.eval("parseFloat(getComputedStyle(document.activeElement).outlineWidth)") >= 2


def test_without_scripts_the_tables_are_there(pages, browser):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(pages["clean"].as_uri())
    text = page.locator("body").inner_text()
    assert "feature 3" in text and "scripts, which are switched off" in text
    context.close()


@pytest.mark.parametrize("name", ALL)
def test_screenshots(pages, open_page, name):
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    looks = {"light": {"color_scheme": "light"}, "dark": {"color_scheme": "dark"},
             "phone": {"viewport": {"width": 390, "height": 844}, "is_mobile": True}}
    if name not in ("harmful", "clean-compare", "clean-reproduce"):
        del looks["dark"], looks["phone"]
    for look, options in looks.items():
        path = SCREENSHOTS / f"{name}-{look}.png"
        open_page(pages[name], **options).page.screenshot(path=path, full_page=True)
        assert path.stat().st_size > 20000
