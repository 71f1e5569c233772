// Charts, drawn as SVG in per cent of their width, so that they fit any screen without redrawing.
function strip(ticks, position, ...marks) {
  const grid = ticks.map((tick) => svg("line", { x1: at(position(tick)), x2: at(position(tick)), y1: 0, y2: "100%", class: "grid" }));
  return svg("svg", { width: "100%", height: 24, "aria-hidden": "true" }, ...grid, ...marks.filter(Boolean));
}

function frequencyStrip(i) {
  const x = at(share(F.count[i]));
  return strip([0, 0.5, 1], (tick) => tick,
    svg("line", { x1: at(data.chance.frequency), x2: at(data.chance.frequency), y1: 0, y2: "100%", class: "chance" }),
    svg("line", { x1: at(F.lower[i]), x2: at(F.upper[i]), y1: 12, y2: 12, class: "reach" }),
    svg("circle", { cx: x, cy: 12, r: 4.5, class: F.selected[i] ? "filled" : "hollow" }));
}

function rankStrip(i) {
  const [low, first, middle, third, high] = F.quantiles[i].map(onRanks);
  const width = Math.max(third - first, 0.006);
  return strip(rankTicks(), onRanks,
    svg("line", { x1: at(low), x2: at(high), y1: 12, y2: 12, class: "reach" }),
    svg("rect", { x: at(Math.min(first, 1 - width)), width: at(width), y: 7, height: 10, rx: 2, class: F.selected[i] ? "box" : "box pale" }),
    svg("line", { x1: at(middle), x2: at(middle), y1: 5, y2: 19, class: "median" }));
}

function axis(ticks, position, text) {
  const marks = ticks.map((tick) => {
    const x = position(tick);
    return svg("text", { x: at(x), y: 14, "text-anchor": x < 0.04 ? "start" : x > 0.96 ? "end" : "middle" }, text(tick));
  });
  return svg("svg", { width: "100%", height: 20, "aria-hidden": "true" }, ...marks);
}

function showStrips() {
  const n = Math.min(N, Number(byId("how-many").value));
  const head = html("div", { class: "strip head", "aria-hidden": "true" },
    html("span", {}),
    html("span", {}, html("b", {}, "Selected in"), axis([0, 0.5, 1], (x) => x, percent)),
    hasRanks ? html("span", {}, html("b", {}, "Rank in the runs"), axis(rankTicks(), onRanks, whole)) : null);
  const list = html("div", { role: "listbox", "aria-labelledby": "charts-title", "aria-describedby": "strips-help" });
  for (let i = 0; i < n; i += 1) {
    const row = html("div", { class: "strip", role: "option", "data-i": i, tabindex: i === 0 ? 0 : -1, "aria-label": told(i).join(", ") },
      html("span", { class: "strip-name" }, html("bdi", {}, label(i))),
      html("span", {}, frequencyStrip(i)),
      hasRanks ? html("span", {}, rankStrip(i)) : null);
    list.append(row);
  }
  byId("strips").classList.toggle("no-ranks", !hasRanks);
  byId("strips").replaceChildren(head, list);
  markStrips(current);
}

function markStrips(i) {
  const rows = [...document.querySelectorAll("#strips [role=option]")];
  for (const row of rows) {
    const chosen = Number(row.dataset.i) === i;
    row.setAttribute("aria-selected", chosen);
    row.tabIndex = chosen || (row === rows[0] && !(i < rows.length)) ? 0 : -1;
  }
}

function setUpStrips() {
  const box = byId("strips");
  const rowOf = (event) => event.target.closest("[role=option]");
  byId("how-many").addEventListener("change", showStrips);
  box.addEventListener("click", (event) => rowOf(event) && select(Number(rowOf(event).dataset.i)));
  box.addEventListener("mousemove", (event) => (rowOf(event) ? showTip(event, told(Number(rowOf(event).dataset.i))) : hideTip()));
  box.addEventListener("mouseleave", hideTip);
  box.addEventListener("keydown", (event) => {
    const row = rowOf(event);
    if (!row) return;
    const rows = [...row.parentElement.children];
    const here = rows.indexOf(row);
    const goal = { ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: rows.length - 1 }[event.key];
    if (goal !== undefined && rows[goal]) {
      event.preventDefault();
      row.tabIndex = -1;
      rows[goal].tabIndex = 0;
      rows[goal].focus();
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      select(Number(row.dataset.i));
    }
  });
  listeners.push(markStrips);
  showStrips();
}

// ------------------------------------------------------------------ plots with two axes

function frame(box, { xTicks, yTicks, x, y, xText, yText, xTitle, describe }) {
  const inside = svg("svg", { width: "100%", height: "100%", class: "inside" });
  for (const tick of yTicks) inside.append(svg("line", { x1: 0, x2: "100%", y1: at(1 - y(tick)), y2: at(1 - y(tick)), class: "grid" }));
  for (const tick of xTicks) inside.append(svg("line", { x1: at(x(tick)), x2: at(x(tick)), y1: 0, y2: "100%", class: "grid" }));
  const area = html("div", { class: "area", role: "img", "aria-label": describe }, inside);
  const left = html("div", { class: "y-axis", "aria-hidden": "true" });
  for (const tick of yTicks) {
    const text = html("span", {}, yText(tick));
    text.style.top = at(1 - y(tick));
    left.append(text);
  }
  const below = html("div", { class: "x-axis", "aria-hidden": "true" });
  for (const tick of xTicks) {
    const text = html("span", {}, xText(tick));
    text.style.left = at(x(tick));
    below.append(text);
  }
  box.replaceChildren(left, area, below, html("div", { class: "x-title" }, xTitle));
  return { area, inside };
}

function setUpOverview() {
  const place = (rank) => (N > 1 ? Math.log(rank) / Math.log(N) : 0.5);
  const steps = [1, 3, 10, 30, 100, 300, 1000, 3000].filter((tick) => tick <= N);
  const { area, inside } = frame(byId("overview"), {
    xTicks: steps, yTicks: [0, 0.25, 0.5, 0.75, 1], x: place, y: (v) => v,
    xText: whole, yText: percent, xTitle: "Final rank", describe: "Selection frequency by final rank",
  });
  inside.append(svg("line", { x1: 0, x2: "100%", y1: at(1 - data.chance.frequency), y2: at(1 - data.chance.frequency), class: "chance" }));
  const dots = F.count.map((count, i) => svg("circle", { cx: at(place(i + 1)), cy: at(1 - share(count)), r: N > 300 ? 3 : 4.5, class: F.selected[i] ? "filled" : "hollow" }));
  inside.append(...dots);
  const ring = svg("circle", { r: 9, class: "ring", visibility: "hidden" });
  inside.append(ring);

  const nearest = (event) => {
    const box = area.getBoundingClientRect();
    let [best, least] = [0, Infinity];
    for (let i = 0; i < N; i += 1) {
      const distance = Math.hypot(place(i + 1) * box.width - event.clientX + box.left, (1 - share(F.count[i])) * box.height - event.clientY + box.top);
      if (distance < least) [best, least] = [i, distance];
    }
    return best;
  };
  const mark = (i) => {
    ring.setAttribute("visibility", "visible");
    ring.setAttribute("cx", at(place(i + 1)));
    ring.setAttribute("cy", at(1 - share(F.count[i])));
    area.setAttribute("aria-valuenow", i + 1);
    area.setAttribute("aria-valuetext", told(i).join(", "));
  };
  const about = { role: "slider", tabindex: 0, "aria-valuemin": 1, "aria-valuemax": N, "aria-valuenow": 1, "aria-valuetext": told(0).join(", "), "aria-label": "Feature by final rank" };
  for (const [name, value] of Object.entries(about)) area.setAttribute(name, value);
  area.addEventListener("mousemove", (event) => showTip(event, told(nearest(event))));
  area.addEventListener("mouseleave", hideTip);
  area.addEventListener("click", (event) => select(nearest(event)));
  area.addEventListener("keydown", (event) => {
    const here = current ?? -1;
    const goal = { ArrowRight: here + 1, ArrowUp: here + 1, ArrowLeft: here - 1, ArrowDown: here - 1, Home: 0, End: N - 1, PageUp: here + 10, PageDown: here - 10 }[event.key];
    if (goal === undefined) return;
    event.preventDefault();
    select(Math.max(0, Math.min(N - 1, goal)), { open: false });
  });
  listeners.push(mark);
}

function setUpForecast() {
  const curve = data.forecast;
  if (!curve) return;
  const points = curve.sizes.map((size, i) => ({
    size, value: curve.stability[i], low: curve.lower?.[i] ?? null, high: curve.upper?.[i] ?? null, observed: curve.observed[i],
  })).filter((point) => point.value !== null);
  if (!points.length) return;
  const last = points[points.length - 1].size;
  const bottom = Math.min(0, ...points.map((point) => point.low ?? point.value));
  const x = (size) => (last > 1 ? Math.log(size) / Math.log(last) : 0.5);
  const y = (value) => (value - bottom) / (1 - bottom);
  const few = points.map((point) => point.size).filter((size, i, all) => i === 0 || x(size) - x(all[i - 1]) > 0.06 || i === all.length - 1);
  const { area, inside } = frame(byId("forecast-plot"), {
    xTicks: few, yTicks: [0, 0.25, 0.5, 0.75, 1], x, y, xText: whole, yText: (v) => v.toString(), xTitle: "Runs in the ensemble",
    describe: points.map((point) => `${point.size} runs: ${point.value.toFixed(2)}`).join("; "),
  });
  const stretched = svg("svg", { width: "100%", height: "100%", viewBox: "0 0 100 100", preserveAspectRatio: "none" });
  const path = (list) => list.map(([u, v], i) => `${i ? "L" : "M"}${(100 * u).toFixed(2)} ${(100 * (1 - v)).toFixed(2)}`).join("");
  const banded = points.filter((point) => point.low !== null);
  if (banded.length > 1) {
    const outline = [...banded.map((point) => [x(point.size), y(point.high)]), ...banded.reverse().map((point) => [x(point.size), y(point.low)])];
    stretched.append(svg("path", { d: `${path(outline)}Z`, class: "band" }));
  }
  stretched.append(svg("path", { d: path(points.map((point) => [x(point.size), y(point.value)])), class: "curve" }));
  inside.append(stretched);
  if (curve.protocol === "nested" && curve.plateau !== null) {
    inside.append(svg("line", { x1: 0, x2: "100%", y1: at(1 - y(curve.plateau)), y2: at(1 - y(curve.plateau)), class: "chance" }));
    const limit = html("span", { class: "limit" }, `limit for any ensemble: ${curve.plateau.toFixed(2)}`);
    limit.style.top = at(1 - y(curve.plateau));
    area.append(limit);
  }
  for (const point of points) {
    const dot = svg("circle", { cx: at(x(point.size)), cy: at(1 - y(point.value)), r: 5, class: point.observed ? "filled" : "hollow" });
    const range = point.low === null ? "" : ` (${point.low.toFixed(2)} to ${point.high.toFixed(2)})`;
    dot.addEventListener("mousemove", (event) => showTip(event, [`${whole(point.size)} run${point.size === 1 ? "" : "s"}`, `agreement ${point.value.toFixed(2)}${range}`]));
    dot.addEventListener("mouseleave", hideTip);
    inside.append(dot);
  }
}
