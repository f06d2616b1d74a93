// Draws the figures of a report page, sorts its tables, and switches to dark mode. Text from the data becomes text nodes
// or text in a figure, never markup; expressions are interpreted, never compiled.
(function () {
  "use strict";

  const root = document.documentElement;
  const said = document.getElementById("said");
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const drawn = figures.map(() => ({ view: null, width: 0, off: new Set() }));

  function element(tag, text, attributes) {
    const made = document.createElement(tag);
    if (text) made.textContent = text;
    for (const [name, value] of Object.entries(attributes || {})) made.setAttribute(name, value);
    return made;
  }

  // --- Light and dark ---------------------------------------------------------------------------------------------

  const dark_wish = window.matchMedia("(prefers-color-scheme: dark)");
  const is_dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark_wish.matches);

  // Contrast of at least 3:1 with the background; adjacent colors also differ in lightness.
  const colors = {
    light: ["#1f5fa8", "#c2570c", "#2c7a3f", "#8e3fa0", "#c0282d", "#7d5a3c", "#0f7f92", "#c0488a", "#77750f"],
    dark: ["#6ea8f0", "#f2994a", "#6fcf7f", "#cf97e3", "#f2777a", "#cdab8a", "#57c7d9", "#f29ac4", "#cfcb4d"],
  };

  const variable = (name) => getComputedStyle(root).getPropertyValue(name).trim();

  // Controls (random subsets, all features) are gray; the rest use the colors in order.
  function series_colors(series) {
    const palette = colors[is_dark() ? "dark" : "light"];
    let next = 0;
    return series.map((one) => (one.control ? variable("--control") : palette[next++ % palette.length]));
  }

  const is_narrow = (width) => width < 420;  // the legend of colors is above the picture
  const is_short = (width) => width < 500;  // of labels

  // `high`: of the picture without its axes; the legend of colors is no longer than it.
  function config(meta, width, high) {
    const ink = variable("--ink"), soft = variable("--soft"), grid = variable("--grid"), line = variable("--line");
    const ramp = ["--ramp-0", "--ramp-1", "--ramp-2", "--ramp-3"].map(variable);
    const palette = colors[is_dark() ? "dark" : "light"];
    const font = getComputedStyle(document.body).fontFamily;
    return {
      background: null, font: font, padding: 2,
      view: { stroke: null },
      axis: { labelColor: soft, titleColor: soft, labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal",
              gridColor: grid, domainColor: line, tickColor: line, labelLimit: is_short(width) ? 86 : 130, titlePadding: 8 },
      axisX: { grid: false },
      axisQuantitative: { tickCount: 5 },
      header: { labelColor: ink, labelFontSize: 13, labelFontWeight: 600, titleColor: soft, labelLimit: 260 },
      legend: { labelColor: soft, titleColor: soft, titleFontWeight: "normal", labelFontSize: 12, titleFontSize: 12,
                orient: is_narrow(width) ? "top" : "right",
                gradientLength: is_narrow(width) ? 120 : Math.max(30, Math.min(120, high - 10)) },
      line: { color: palette[0], strokeWidth: 2 }, point: { color: palette[0], filled: true, size: 36 },
      area: { color: palette[0] }, bar: { color: palette[0] }, rule: { color: soft }, text: { color: ink, fontSize: 12 },
      style: { whisker: { color: ink, strokeWidth: 1.5 },
               halo: { stroke: variable("--paper"), strokeWidth: 4, strokeJoin: "round" } },
      range: { category: meta.series ? series_colors(meta.series) : palette, heatmap: ramp, ramp: ramp,
               diverging: ["--below", "--between", "--above"].map(variable) },
    };
  }

  // --- Figures ----------------------------------------------------------------------------------------------------

  const loader = { load: () => Promise.reject(new Error("the page loads nothing")),
                   sanitize: () => Promise.reject(new Error("the page links to nothing")) };

  // The specification at the available width: facets in as many columns as fit, heat maps with roughly square cells.
  function sized(figure, width) {
    const spec = structuredClone(figure);
    const meta = spec.usermeta || {};
    // The numbers on the cells of heat maps, and the length of their labels.
    const numbers = is_dark() ? { ink: "#ffffff", paper: "#000000", deep: 0.5 } : {};
    if (is_short(width)) numbers.letters = 10;
    for (const one of spec.params || []) {
      if (one.name in numbers) one.value = numbers[one.name];
    }
    const inner = spec.facet ? spec.spec : spec;
    if (spec.facet) {
      const most = Math.max(1, Math.min(meta.panels, Math.floor(width / 250)));
      const columns = Math.ceil(meta.panels / Math.ceil(meta.panels / most));  // rows as even as possible
      spec.columns = columns;
      const keyed = inner.layer.some((one) => ((one.encoding || {}).color || {}).legend);
      const left = width - (keyed && !is_narrow(width) ? 70 : 0);  // of it beside the legend of colors
      inner.width = Math.floor(left / columns - (spec.resolve ? 82 : 62));  // minus an axis, or one per panel
    } else {
      spec.width = meta.aspect ? width : Math.min(width, meta.widest || width);
      spec.autosize = { type: "fit-x", contains: "padding" };
    }
    if (meta.aspect) {
      const most = Math.min(inner.width, meta.widest);
      const beside = is_narrow(width) ? 100 : 150;  // the labels, and the legend if it is there
      if (!spec.facet) spec.width = Math.min(width, is_narrow(width) ? Math.max(most + beside, 260) : most + 210);
      const high = Math.max(60, Math.min(most, spec.facet ? most : width - beside) * meta.aspect);
      inner.height = Math.round(Math.min(high, meta.most || high));
    } else {
      inner.height = spec.facet ? 170 : meta.height || 260;
    }
    return spec;
  }

  const tip = document.getElementById("tip");
  function show_tip(handler, event, item, value) {
    tip.hidden = value === null || value === undefined || value === "";
    if (tip.hidden) return;
    const table = element("table");
    for (const [name, one] of Object.entries(value)) {
      const row = table.insertRow();
      row.append(element("td", name), element("td", String(one)));
    }
    tip.replaceChildren(table);
    const box = tip.getBoundingClientRect();
    tip.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - box.width - 8)) + "px";
    tip.style.top = (event.clientY + 18 + box.height > innerHeight ? event.clientY - box.height - 10 : event.clientY + 18) + "px";
  }

  function draw(index) {
    const state = drawn[index];
    const holder = document.getElementById("plot-" + (index + 1));
    const meta = figures[index].usermeta || {};
    state.width = holder.clientWidth;
    if (state.view) state.view.finalize();
    try {
      const spec = sized(figures[index], state.width);
      const compiled = vegaLite.compile(spec, { config: config(meta, state.width, (spec.spec || spec).height) }).spec;
      const runtime = vega.parse(compiled, null, { ast: true });
      state.view = new vega.View(runtime, { expr: vegaInterpreter.expressionInterpreter, loader: loader,
                                            logLevel: vega.Warn, renderer: "svg", tooltip: show_tip });
      if (meta.series) state.view.signal("off", [...state.off]);
      if (meta.choices && state.picked) state.view.signal("picked", state.picked);
      if (meta.picks) state.view.addEventListener("click", (event, item) => item && item.datum && pick(item.datum.y));
      const inside = element("div");  // Vega labels the element it draws into; the holder has its own label
      holder.replaceChildren(inside);
      state.view.initialize(inside).hover().run();
    } catch (error) {
      holder.replaceChildren(element("p", "This figure could not be drawn: " + error.message, { class: "failed" }));
      console.error(error);
    }
    legend(index);
  }

  // Buttons, so that series can be toggled from the keyboard.
  function legend(index) {
    const series = (figures[index].usermeta || {}).series || [];
    const list = document.getElementById("legend-" + (index + 1));
    if (series.length < 2) return;
    const shades = series_colors(series);
    const state = drawn[index];
    const focused = [...list.querySelectorAll("button")].indexOf(document.activeElement);
    list.replaceChildren(...series.map((one, position) => {
      const button = element("button", "", { type: "button", "aria-pressed": String(!state.off.has(position)) });
      const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
      const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
      for (const [name, value] of Object.entries({ width: 22, height: 10, "aria-hidden": "true" })) svg.setAttribute(name, value);
      const strokes = { x1: 0, x2: 22, y1: 5, y2: 5, stroke: shades[position], "stroke-width": one.bar ? 9 : 2.5,
                        "stroke-dasharray": one.bar ? "none" : one.dash.join(" ") };
      for (const [name, value] of Object.entries(strokes)) line.setAttribute(name, value);
      svg.append(line);
      button.append(svg, element("span", one.name));
      button.addEventListener("click", () => toggle(index, position, button));
      const item = element("li");
      item.append(button);
      return item;
    }));
    if (focused >= 0) list.querySelectorAll("button")[focused].focus();
  }

  function toggle(index, position, button) {
    const state = drawn[index];
    state.off.has(position) ? state.off.delete(position) : state.off.add(position);
    button.setAttribute("aria-pressed", String(!state.off.has(position)));
    state.view.signal("off", [...state.off]).run();
  }

  async function save(index) {
    const svg = await drawn[index].view.toSVG();
    const link = element("a", "", { download: "figure-" + (index + 1) + ".svg" });
    link.href = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  // A click on a row of a heat map, or a choice from the list, shows that row's spread.
  const spread = figures.findIndex((figure) => (figure.usermeta || {}).choices);
  function pick(position) {
    const state = drawn[spread];
    if (!state || !state.view || !(position < figures[spread].usermeta.choices.length)) return;
    state.picked = position;
    state.view.signal("picked", position).run();
    document.getElementById("pick-" + (spread + 1)).value = String(position);
    said.textContent = "Shown: " + figures[spread].usermeta.choices[position];
  }

  function picker(index) {
    const list = element("select", "", { id: "pick-" + (index + 1) });
    const label = element("label", "Feature: ", { for: list.id });
    figures[index].usermeta.choices.forEach((name, position) => list.append(element("option", name, { value: position })));
    list.addEventListener("change", () => pick(Number(list.value)));
    const place = element("p");
    place.append(label, list);
    document.getElementById("legend-" + (index + 1)).before(place);
  }

  function tools(index) {
    if (index === spread) picker(index);
    const place = document.getElementById("tools-" + (index + 1));
    const button = element("button", "Save as SVG", { type: "button" });
    button.addEventListener("click", () => save(index));
    place.append(button);
  }

  const redraw = () => figures.forEach((_, index) => draw(index));

  // One figure per task, so that the page stays responsive.
  function draw_from(index) {
    if (index === figures.length) {
      root.dataset.drawn = String(index);
      return;
    }
    draw(index);
    tools(index);
    if (index === 0) root.dataset.firstFigure = String(Math.round(performance.now()));
    setTimeout(draw_from, 0, index + 1);
  }

  // --- Tables -----------------------------------------------------------------------------------------------------

  const collator = new Intl.Collator(undefined, { numeric: true });

  // Missing values sort last in either direction.
  function number_of(cell) {
    const text = cell.dataset.v === undefined ? cell.textContent : cell.dataset.v;
    return text === "" || text === "\u2013" ? NaN : parseFloat(text.replace("\u2212", "-"));
  }

  function sort(table, column, numeric, falling) {
    const body = table.tBodies[0];
    const sign = falling ? -1 : 1;
    const rows = [...body.rows].map((row, position) => {
      const cell = row.cells[column];
      return { row: row, key: numeric ? number_of(cell) : cell.textContent, position: position };
    });
    rows.sort((a, b) => {
      if (!numeric) return sign * collator.compare(a.key, b.key) || a.position - b.position;
      if (isNaN(a.key) || isNaN(b.key)) return isNaN(a.key) - isNaN(b.key) || a.position - b.position;
      return sign * (a.key - b.key) || a.position - b.position;
    });
    body.append(...rows.map((one) => one.row));
  }

  function make_sortable(table) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const numeric = head.classList.contains("n");
      const button = element("button", head.textContent, { type: "button" });
      head.replaceChildren(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        // The first click shows the largest numbers, or the first words.
        const before = head.getAttribute("aria-sort");
        const falling = before === "none" ? numeric : before === "ascending";
        heads.forEach((one) => one.setAttribute("aria-sort", "none"));
        head.setAttribute("aria-sort", falling ? "descending" : "ascending");
        sort(table, column, numeric, falling);
        said.textContent = "Sorted by " + button.textContent + ", " + (falling ? "descending" : "ascending");
      });
    });
  }

  function make_long(scroll) {
    const button = element("button", "", { type: "button", class: "more" });
    const count = scroll.querySelector("tbody").rows.length;
    const label = () => {
      const whole = scroll.classList.contains("whole");
      button.textContent = whole ? "Show in a scrolling window" : "Show all " + count + " rows at once";
      button.setAttribute("aria-expanded", String(whole));
    };
    button.addEventListener("click", () => {
      scroll.classList.toggle("whole");
      label();
    });
    label();
    scroll.after(button);
  }

  // Search, names to copy, and the table as a file.
  const text_of = (cell) => cell.title || cell.dataset.s || cell.textContent;
  const shown_rows = (table) => [...table.tBodies[0].rows].filter((row) => !row.hidden);

  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      return;
    } catch (error) {  // not allowed here: the old way
      const area = element("textarea", "", { class: "unseen", "aria-hidden": "true" });
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
  }

  // Spreadsheets take a text that begins like a formula for one; numbers are plain.
  function csv_cell(text) {
    const plain = text.replace(/\u2212/g, "-").replace(/\u202f/g, " ").replace(/^\u2013$/, "");
    const safe = /^[=+@\t\r-]/.test(plain) && isNaN(Number(plain)) ? "'" + plain : plain;
    return /[",\n\r]/.test(safe) ? '"' + safe.replace(/"/g, '""') + '"' : safe;
  }

  function save_csv(table, name) {
    const lines = [[...table.tHead.rows[0].cells].map((head) => head.textContent), ...shown_rows(table).map((row) =>
      [...row.cells].map(text_of))].map((cells) => cells.map(csv_cell).join(","));
    const link = element("a", "", { download: name.replace(/[^a-z0-9]+/gi, "-").toLowerCase().slice(0, 60) + ".csv" });
    link.href = URL.createObjectURL(new Blob([lines.join("\n") + "\n"], { type: "text/csv" }));
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  function make_bench(scroll) {
    const table = scroll.querySelector("table");
    const rows = [...table.tBodies[0].rows], title = scroll.getAttribute("aria-label");
    if (rows.length < 5 || !table.classList.contains("sortable")) return;
    const heads = [...table.tHead.rows[0].cells].map((head) => head.textContent);
    const name = heads.indexOf("name"), selected = heads.indexOf("selected");
    const bench = element("div", "", { class: "bench" });
    const count = element("span");
    const search = element("input", "", { type: "search", placeholder: "Search", "aria-label": "Search in " + title });
    search.addEventListener("input", () => {
      const wanted = search.value.toLowerCase();
      for (const row of rows) row.hidden = wanted !== "" && ![...row.cells].some((cell) => text_of(cell).toLowerCase().includes(wanted));
      count.textContent = wanted === "" ? "" : shown_rows(table).length + " of " + rows.length + " rows";
      said.textContent = count.textContent;
    });
    bench.append(search);
    if (name >= 0) {
      const button = element("button", selected >= 0 ? "Copy selected names" : "Copy names", { type: "button" });
      button.addEventListener("click", async () => {
        const wanted = shown_rows(table).filter((row) => selected < 0 || row.cells[selected].textContent === "yes");
        await copy(wanted.map((row) => text_of(row.cells[name])).join("\n") + "\n");
        count.textContent = said.textContent = wanted.length + " names copied";
      });
      bench.append(button);
    }
    const save_button = element("button", "Save as CSV", { type: "button" });
    save_button.addEventListener("click", () => save_csv(table, title));
    bench.append(save_button, count);
    scroll.before(bench);
  }

  // Where a table does not fit its window, its cells wrap; where that is not enough or makes rows tall, or the window is
  // small, its rows become cards, which are still a table for screen readers. A wide table in a large window scrolls under its first columns.
  const roles = [["table", "table"], ["thead, tbody", "rowgroup"], ["tr", "row"], ["th", "columnheader"], ["td", "cell"]];
  function is_tall(table) {
    const lines = 3 * parseFloat(getComputedStyle(table).lineHeight) + 12;
    return table.tBodies[0].offsetHeight > lines * table.tBodies[0].rows.length;
  }
  function fit(scroll) {
    const small = window.innerWidth < 736, cut = () => scroll.scrollWidth > scroll.clientWidth + 1;
    scroll.classList.remove("stacked", "snug");
    if (!cut() || (window.innerWidth > 1200 && scroll.classList.contains("wide"))) return;
    if (!small) {
      scroll.classList.add("snug");
      if (!cut() && !is_tall(scroll.querySelector("table"))) return;
      scroll.classList.remove("snug");
    }
    if (!scroll.dataset.roles) {
      const heads = [...scroll.querySelectorAll("th")].map((head) => head.textContent);
      for (const [which, role] of roles) scroll.querySelectorAll(which).forEach((one) => one.setAttribute("role", role));
      for (const row of scroll.querySelectorAll("tbody tr")) {
        [...row.cells].forEach((cell, place) => { cell.dataset.l = heads[place]; });
      }
      scroll.dataset.roles = "set";
    }
    scroll.classList.add("stacked");
  }
  const fit_all = () => document.querySelectorAll(".scroll").forEach(fit);

  // --- The page ---------------------------------------------------------------------------------------------------

  const theme = document.getElementById("theme");
  function label_theme() {
    theme.textContent = is_dark() ? "Light" : "Dark";
    theme.setAttribute("aria-label", "Change to " + (is_dark() ? "light" : "dark") + " colors");
  }
  theme.addEventListener("click", () => {
    root.dataset.theme = is_dark() ? "light" : "dark";
    label_theme();
    redraw();
  });
  dark_wish.addEventListener("change", () => {
    label_theme();
    redraw();
  });
  theme.hidden = false;
  label_theme();

  let waiting = 0;
  window.addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      fit_all();
      figures.forEach((_, index) => {
        const width = document.getElementById("plot-" + (index + 1)).clientWidth;
        if (drawn[index].view && width !== drawn[index].width) draw(index);
      });
    }, 150);
  });

  // Print in light mode.
  let screen_theme;
  window.addEventListener("beforeprint", () => {
    screen_theme = root.dataset.theme;
    if (!is_dark()) return;
    root.dataset.theme = "light";
    redraw();
  });
  window.addEventListener("afterprint", () => {
    if (root.dataset.theme === screen_theme) return;
    screen_theme ? root.dataset.theme = screen_theme : delete root.dataset.theme;
    redraw();
  });

  // The row, column and value of the pixel under the pointer.
  document.querySelectorAll(".images[data-v]").forEach((images) => {
    const width = Number(images.dataset.w), values = images.dataset.v.split(" ");
    images.addEventListener("mousemove", (event) => {
      if (event.target.localName !== "img") return show_tip(null, event, null, null);
      const box = event.target.getBoundingClientRect(), side = box.width / width;
      const column = Math.min(width - 1, Math.max(0, Math.floor((event.clientX - box.left) / side)));
      const row = Math.max(0, Math.floor((event.clientY - box.top) / side));
      const value = { row: row, column: column };
      value[images.dataset.t] = values[row * width + column] || "\u2013";
      show_tip(null, event, null, value);
    });
    images.addEventListener("mouseleave", (event) => show_tip(null, event, null, null));
  });

  // Small bars, one for each cluster.
  function draw_strip(cell) {
    const digits = cell.dataset.s, space = "http://www.w3.org/2000/svg";
    const svg = document.createElementNS(space, "svg"), path = document.createElementNS(space, "path");
    const shape = [...digits].map((digit, place) => {
      const high = digit === "-" ? 0 : 2 + parseInt(digit, 16);
      return high && "M" + 6 * place + " 18h5v-" + high + "h-5z";
    });
    path.setAttribute("d", shape.filter(Boolean).join(""));
    for (const [name, value] of Object.entries({ width: 6 * digits.length, height: 18, "aria-hidden": "true" })) {
      svg.setAttribute(name, value);
    }
    svg.append(path);
    cell.append(svg);
  }

  document.querySelectorAll("td.s[data-s]").forEach(draw_strip);
  draw_from(0);
  document.querySelectorAll("table.sortable").forEach(make_sortable);
  document.querySelectorAll(".scroll:is(.long, .many)").forEach(make_long);
  document.querySelectorAll(".scroll").forEach(make_bench);
  document.querySelectorAll("details").forEach((one) => one.addEventListener("toggle", fit_all));
  fit_all();
})();
