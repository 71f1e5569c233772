// One feature is selected at a time; every view listens and marks it.
const listeners = [];
let current = null;

function select(i, { open = true } = {}) {
  current = i;
  const panel = byId("detail");
  panel.replaceChildren(...detail(i));
  panel.hidden = false;
  panel.classList.toggle("open", open);
  for (const listener of listeners) listener(i);
}

function detail(i) {
  const close = html("button", { type: "button", class: "close", "aria-label": "Close the details" }, "×");
  close.addEventListener("click", () => byId("detail").classList.remove("open"));
  const rows = [
    ["Final rank", `${whole(i + 1)}${F.selected[i] ? ", selected" : ", not selected"}`],
    ["Selected in", `${percent(share(F.count[i]))} (${whole(F.count[i])} of ${whole(data.n_runs)} runs)`],
    ["95% interval", interval(i)],
  ];
  if (hasTwins) rows.push(["It or a twin in", `${percent(share(F.group_count[i]))} of the runs`]);
  if (hasRanks) {
    rows.push(["Mean rank", `${short(F.mean_rank[i])} ± ${short(F.sd_rank[i])}`]);
    rows.push(["Middle half of ranks", `${short(F.quantiles[i][1])} to ${short(F.quantiles[i][3])}`]);
  }
  if (F.q_value?.[i] != null) rows.push(["q-value", rounded(F.q_value[i], 3)]);
  if (F.group_q_value?.[i] != null) rows.push(["q-value of its group", rounded(F.group_q_value[i], 3)]);
  rows.push(["Score", rounded(F.score[i], 4)]);
  const list = html("dl", { class: "facts" });
  for (const [name, value] of rows) list.append(html("div", {}, html("dt", {}, name), html("dd", {}, value)));
  return [
    close,
    html("h2", { id: "detail-title" }, html("bdi", {}, label(i))),
    list,
    hasRanks ? histogram(i) : null,
    hasTwins ? twins(i) : null,
  ].filter(Boolean);
}

function histogram(i) {
  const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";
  const bars = [...F.histogram[i]].map((digit) => digits.indexOf(digit) / 63);
  const plot = svg("svg", { class: "histogram", width: "100%", height: 88, role: "img", "aria-label": `Ranks of ${label(i)} over the runs` });
  const top = onRanks(lastRank + 1) || 1;
  bars.forEach((bar, k) => {
    const left = onRanks(F.edges[k]) / top;
    const right = onRanks(F.edges[k + 1]) / top;
    if (bar > 0) plot.append(svg("rect", { x: at(left), width: at(Math.max(right - left - 0.006, 0.004)), y: 64 * (1 - bar), height: 64 * bar, rx: 1.5 }));
  });
  plot.append(svg("line", { x1: 0, x2: "100%", y1: 64.5, y2: 64.5, class: "axis" }));
  for (const tick of rankTicks()) {
    const x = onRanks(tick) / top;
    plot.append(svg("text", { x: at(x), y: 80, "text-anchor": x < 0.05 ? "start" : x > 0.93 ? "end" : "middle" }, whole(tick)));
  }
  return html("figure", {}, html("figcaption", {}, "Its rank in the runs (1 = best)"), plot);
}

function twins(i) {
  const box = html("div", { class: "twins" }, html("h3", {}, F.n_twins[i] === 1 ? "Its twin" : "Its twins"));
  if (!F.n_twins[i]) {
    box.append(html("p", { class: "quiet" }, "No other feature can stand in for it."));
    return box;
  }
  const list = html("ul");
  for (const [which, similarity] of F.twins[i]) {
    const known = typeof which === "number";
    const name = known ? html("button", { type: "button", class: "name" }, html("bdi", {}, label(which))) : html("bdi", {}, which);
    if (known) name.addEventListener("click", () => { select(which); byId("detail").focus(); });
    const often = known ? `, in ${percent(share(F.count[which]))} of the runs` : "";
    list.append(html("li", {}, name, html("span", { class: "quiet" }, ` ${similarity.toFixed(2)}${often}`)));
  }
  const more = F.n_twins[i] - F.twins[i].length;
  if (more) list.append(html("li", { class: "quiet" }, `and ${whole(more)} more`));
  box.append(list);
  return box;
}
