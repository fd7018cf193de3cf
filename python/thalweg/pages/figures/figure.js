// Draws the figures of a page: each as wide as its place, in the colours that suit the reader, with a cursor that
// reads all panels.
const figures = JSON.parse(document.querySelector("script#figures").textContent);
const themes = JSON.parse(document.querySelector("script#themes").textContent);
const dark = matchMedia("(prefers-color-scheme: dark)");
const MOST_READ = 40;
// With less room, in pixels, one thing stands below the other.
const NARROW = 520;

async function inflate(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).text();
}

const program = inflate(document.querySelector("script#program").textContent).then((source) => {
  const script = document.createElement("script");
  script.textContent = source;
  document.head.append(script);
});

// A specification in the colours of a dark background.
function darkened(part) {
  if (typeof part === "string") return themes.darker[part] ?? part;
  if (Array.isArray(part)) return part.map(darkened);
  return part && typeof part === "object" ? Object.fromEntries(Object.entries(part).map(([key, inner]) => [key, darkened(inner)])) : part;
}

// The width of the panels that stand side by side.
function widest(part) {
  if (typeof part.width === "number") return part.width;
  const down = (part.vconcat ?? []).map(widest);
  const across = (part.hconcat ?? []).map(widest).reduce((sum, one) => sum + one, 0);
  return Math.max(0, across, part.spec ? widest(part.spec) * (part.columns ?? 1) : 0, ...down);
}

// What stands side by side, one below the other and as wide as the figure.
function stacked(part, width) {
  const made = { ...part };
  if (part.spec && part.columns) made.columns = 1;
  for (const joint of ["vconcat", "hconcat"]) if (part[joint]) made[joint] = part[joint].map((one) => stacked(one, width));
  if (made.hconcat && !made.vconcat) {
    made.vconcat = made.hconcat.map((one) => (typeof one.width === "number" ? { ...one, width } : one));
    delete made.hconcat;
  }
  return made;
}

function wrapped(lines, letters) {
  return [lines].flat().flatMap((line) => {
    const rows = [""];
    for (const word of String(line).split(" ")) {
      const longer = rows.at(-1) ? `${rows.at(-1)} ${word}` : word;
      if (longer.length > letters && rows.at(-1)) rows.push(word);
      else rows[rows.length - 1] = longer;
    }
    return rows;
  });
}

// A specification whose panels are wider by a factor, with titles and legends that fit; as in figure.py.
function scaled(part, factor, width) {
  if (Array.isArray(part)) return part.map((one) => scaled(one, factor, width));
  const made = { ...part };
  if (typeof part.width === "number") made.width = Math.max(40, part.width * factor);
  for (const joint of ["vconcat", "hconcat", "layer"]) if (part[joint]) made[joint] = scaled(part[joint], factor, width);
  if (part.spec) made.spec = scaled(part.spec, factor, width);
  if (part.title?.subtitle) {
    made.title = {
      ...part.title,
      text: wrapped(part.title.text, width / 8),
      subtitle: wrapped(part.title.subtitle, width / 6.2),
    };
  }
  for (const [channel, symbol] of [["color", 26], ["strokeDash", 48]]) {
    const shown = part.encoding?.[channel];
    if (!shown?.legend?.columns) continue;
    const names = shown.legend.values ?? shown.scale.domain;
    const longest = Math.max(0, ...names.map((label) => label.length));
    const legend = { ...shown.legend };
    // The title of a panel: beside its legend, or above it.
    const isBeside = Boolean(legend.titleOrient) && width >= NARROW;
    if (legend.titleOrient) Object.assign(legend, isBeside ? { titleOrient: "left", titlePadding: 12 } : { titleOrient: "top", titlePadding: 3 });
    const room = width - (isBeside ? 7.4 * legend.title.length : 0);
    legend.columns = Math.max(1, Math.min(names.length, Math.floor(room / (6.2 * longest + symbol))));
    made.encoding = { ...(made.encoding ?? part.encoding), [channel]: { ...shown, legend } };
  }
  return made;
}

async function draw(place) {
  place.dataset.begun = "";
  await program;
  let spec = JSON.parse(await inflate(figures[place.dataset.figure]));
  if (dark.matches) spec = darkened(spec);
  spec.config = dark.matches ? themes.dark : themes.light;
  const options = { actions: { export: true, source: false, compiled: false, editor: false }, renderer: "svg" };
  const canvas = place.querySelector(".drawing") ?? place.appendChild(document.createElement("div"));
  canvas.className = "drawing";
  // What is folded has no width yet.
  const room = place.clientWidth || document.querySelector("main").clientWidth;
  // One below the other: Vega's own setting, which Vega-Lite hands on.
  const layout = { top: { direction: "vertical", anchor: "start" } };
  if (room < NARROW) spec = { ...stacked(spec, widest(spec)), config: { ...spec.config, legend: { ...spec.config.legend, layout } } };
  let [natural, fitting, result] = [widest(spec), spec, undefined];
  // What stands beside the panels is known when it is drawn: usually the first guess is right.
  for (let beside = 76, tries = 0; tries < 3 && natural; tries += 1) {
    fitting = scaled(spec, Math.max(room - beside, 0.2 * room) / natural, room);
    result?.finalize();
    result = await vegaEmbed(canvas, fitting, options);
    const drawn = Number(canvas.querySelector("svg").getAttribute("width"));
    if (drawn <= room) break;
    beside += drawn - room + 1;
  }
  result ??= await vegaEmbed(canvas, spec, options);
  place.dataset.drawn = room;
  place.style.minHeight = "";
  // Vega gives the frame of a brush the role of a picture, without words: there is nothing to read.
  for (const brush of canvas.querySelectorAll('g[class*="_brush"]')) {
    brush.removeAttribute("role");
    brush.setAttribute("aria-hidden", "true");
  }
  follow(canvas, result.view, spec.usermeta?.readings ?? {});
  // A point of a sweep leads to what the page says of it.
  result.view.addEventListener("click", (event, item) => {
    const section = document.getElementById(`point-${item?.datum?.index}`);
    if (section) location.hash = section.id;
  });
}

// Of each panel the series that a cursor reads: points in the order of the axis.
function series(view, readings) {
  const x = readings.x ?? "time_s";
  return (readings.panels ?? []).flatMap((panel) => {
    const found = new Map();
    for (const row of view.data(panel.data)) {
      const name = panel.by.map((column) => row[column]).filter((word, at, all) => all.indexOf(word) === at);
      const label = [panel.title, ...name].filter(Boolean).join(", ");
      if (!found.has(label)) found.set(label, { label, panel, rows: [] });
      found.get(label).rows.push(row);
    }
    const all = [...found.values()];
    for (const one of all) one.rows.sort((a, b) => a[x] - b[x]);
    return all;
  });
}

function figuresOf(value) {
  return Number(value.toPrecision(5)).toString();
}

// What a series says at a place of the axis: the last step, the span that holds it, or the point that is near.
function reading(one, at, near, x) {
  const { rows, panel } = one;
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle][x] <= at) low = middle + 1;
    else high = middle;
  }
  let row = rows[low - 1];
  if (panel.kind === "points") {
    const next = rows[low];
    if (next && (!row || next[x] - at < at - row[x])) row = next;
    if (!row || Math.abs(row[x] - at) > near) return null;
  }
  if (!row || (panel.kind === "spans" && row.until_s < at)) return null;
  const said = row[panel.value];
  if (panel.kind === "spans") return panel.means[said] ? `${said}: ${panel.means[said]}` : said;
  // A data set that no scale reads as numbers is what it was in CSV.
  const value = said === "" || said === null ? NaN : Number(said);
  const word = panel.word && row[panel.word];
  if (Number.isNaN(value)) return word ?? null;
  return panel.unit === "%" ? `${figuresOf(100 * value)} %` : [`${figuresOf(value)} ${panel.unit}`, word].filter(Boolean).join(", ");
}

// As in the lab: drag to look closer, Shift and drag to move along, a double click for all; Ctrl and the wheel, or two fingers, look closer
// too, Shift and the wheel move along.
function zoom(place, view, panelsOf) {
  const [least, most] = [view.signal("from"), view.signal("until")];
  const show = (from, until) => {
    const width = Math.min(until - from, most - least);
    const begin = Math.max(least, Math.min(from, most - width));
    view.signal("from", begin).signal("until", begin + width).runAsync();
  };
  const seen = () => [view.signal("from"), view.signal("until")];
  const svg = place.querySelector("svg");
  const range = place.appendChild(Object.assign(document.createElement("div"), { className: "cursor-range", hidden: true }));
  svg.addEventListener("wheel", (event) => {
    const panel = panelsOf(event);
    if (!(event.ctrlKey || event.shiftKey) || !panel) return;
    event.preventDefault();
    const [from, until] = seen();
    if (!event.ctrlKey) {
      const by = (until - from) * (event.deltaY || event.deltaX) / 1000;
      return show(from + by, until + by);
    }
    const at = from + (until - from) * (event.clientX - panel.left) / panel.width;
    const factor = Math.min(4, Math.max(0.25, 1.002 ** event.deltaY));
    if ((until - from) * factor > (most - least) * 1e-5) show(at - (at - from) * factor, at + (until - at) * factor);
  }, { passive: false });
  svg.addEventListener("dblclick", () => show(least, most));
  svg.addEventListener("pointerdown", (event) => {
    const panel = panelsOf(event);
    if (!panel || event.pointerType === "touch" || event.button !== 0) return;
    const [from, until] = seen();
    const shareOf = ({ clientX }) => Math.max(0, Math.min(1, (clientX - panel.left) / panel.width));
    const begin = shareOf(event);
    const chosen = (moved) => [begin, shareOf(moved)].sort((one, other) => one - other);
    const move = (moved) => {
      if (event.shiftKey) {
        const by = (until - from) * (moved.clientX - event.clientX) / panel.width;
        return show(from - by, until - by);
      }
      const [left, right] = chosen(moved).map((share) => share * panel.width);
      const outer = place.getBoundingClientRect();
      range.hidden = false;
      Object.assign(range.style, {
        left: `${panel.left - outer.left + left}px`, width: `${right - left}px`, top: `${panel.top - outer.top}px`, height: `${panel.height}px`,
      });
    };
    const dragged = new AbortController();
    const end = (ended) => {
      dragged.abort();
      range.hidden = true;
      const [low, high] = chosen(ended);
      if (ended.type === "pointerup" && !event.shiftKey && high - low > 0.01) show(from + low * (until - from), from + high * (until - from));
    };
    for (const [name, act] of [["pointermove", move], ["pointerup", end], ["pointercancel", end]]) addEventListener(name, act, dragged);
  });
  svg.style.userSelect = "none";
}

function follow(place, view, readings) {
  if (!readings.panels?.length) return;
  const x = readings.x ?? "time_s";
  const line = place.appendChild(Object.assign(document.createElement("div"), { className: "cursor-line", hidden: true }));
  const box = place.appendChild(Object.assign(document.createElement("div"), { className: "cursor-box", hidden: true }));
  box.setAttribute("role", "status");
  let all;
  const panelRects = () => [...place.querySelectorAll("g.mark-group.role-scope > g > path.background")]
    .map((panel) => panel.getBoundingClientRect());
  const panelUnder = (event, panels) => panels.find((one) => event.clientX >= one.left && event.clientX <= one.right
    && event.clientY >= one.top && event.clientY <= one.bottom);
  zoom(place, view, (event) => panelUnder(event, panelRects()));
  const hide = () => { line.hidden = box.hidden = true; };
  place.onpointerleave = hide;
  place.onpointermove = (event) => {
    const panels = panelRects();
    const under = panelUnder(event, panels);
    if (!under) return hide();
    all ??= series(view, readings);
    const [from, to] = [view.signal("from"), view.signal("until")];
    const at = from + (to - from) * (event.clientX - under.left) / under.width;
    const near = (to - from) * 6 / under.width;
    const rows = all.map((one) => [one.label, reading(one, at, near, x)]).filter(([, value]) => value !== null);
    box.replaceChildren();
    const head = document.createElement("b");
    head.textContent = `${readings.title ?? "time"} ${figuresOf(at)} ${readings.unit ?? "s"}`;
    const table = document.createElement("table");
    for (const [label, value] of rows.slice(0, MOST_READ)) {
      const row = table.insertRow();
      row.insertCell().textContent = label;
      row.insertCell().textContent = value;
      if (value.length > 30) Object.assign(row.lastChild.style, { whiteSpace: "normal", textAlign: "left" });
    }
    box.append(head, table);
    const outer = place.getBoundingClientRect();
    const [top, bottom] = [Math.min(...panels.map((one) => one.top)), Math.max(...panels.map((one) => one.bottom))];
    line.hidden = box.hidden = false;
    Object.assign(line.style, {
      left: `${event.clientX - outer.left}px`, top: `${top - outer.top}px`, height: `${bottom - top}px`,
    });
    const rightward = event.clientX - outer.left < outer.width / 2;
    const left = event.clientX - outer.left + (rightward ? 14 : -14 - box.offsetWidth);
    box.style.left = `${Math.max(0, Math.min(left, outer.width - box.offsetWidth))}px`;
    box.style.top = `${Math.max(0, Math.min(event.clientY - outer.top, bottom - outer.top - box.offsetHeight))}px`;
  };
}

// A figure is drawn when it is about to be seen: a page of many figures opens at once.
const seen = new IntersectionObserver((entries) => {
  for (const entry of entries.filter((one) => one.isIntersecting)) {
    seen.unobserve(entry.target);
    if (!("begun" in entry.target.dataset)) draw(entry.target);
  }
}, { rootMargin: "600px" });

// The others follow one by one when the browser has nothing else to do: no browser waits for figures that are
// begun when the page is printed.
// Chromium may find itself busy for good after a click: then it waits no longer than this.
const MOST_WAIT_MS = 500;
const idle = (then) => (window.requestIdleCallback ? requestIdleCallback(then, { timeout: MOST_WAIT_MS }) : setTimeout(then, 100));
function drawRest() {
  idle(() => {
    const place = document.querySelector("[data-figure]:not([data-begun])");
    if (place) draw(place).finally(drawRest);
    else document.documentElement.dataset.drawn = "";
  });
}

const places = [...document.querySelectorAll("[data-figure]")];
places.forEach((place) => seen.observe(place));
addEventListener("load", drawRest);
const again = () => places.filter((place) => "begun" in place.dataset).forEach(draw);
dark.addEventListener("change", again);
let later;
addEventListener("resize", () => {
  clearTimeout(later);
  later = setTimeout(() => places.filter((one) => "drawn" in one.dataset && Number(one.dataset.drawn) !== one.clientWidth)
    .forEach(draw), 200);
});
