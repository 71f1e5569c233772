// Candidates by stability and score; the front, the baselines and the recommended one stand out.
function setUpComparison() {
  const comparison = data.comparison;
  if (!comparison) return;
  const rows = comparison.rows.filter((row) => row.score !== null && row.stability !== null);
  if (!rows.length) return;
  const scores = rows.map((row) => row.score);
  const [low, high] = [Math.min(...scores), Math.max(...scores)];
  const room = Math.max(high - low, 0.01) * 0.08;
  const left = Math.min(0, ...rows.map((row) => row.stability));
  const x = (value) => (value - left) / (1.03 - left);
  const y = (value) => (value - low + room) / (high - low + 2 * room);
  const { inside } = frame(byId("comparison-plot"), {
    xTicks: [0, 0.25, 0.5, 0.75, 1], yTicks: niceTicks(low, high), x, y,
    xText: (v) => v.toString(), yText: (v) => v.toString(), xTitle: `Stability (${comparison.measure})`,
    describe: `${comparison.score_name} by stability of ${rows.length} candidates`,
  });
  const importance = (row) => 2 * row.recommended + row.on_front;
  for (const row of [...rows].sort((a, b) => importance(a) - importance(b))) {
    const place = { cx: at(x(row.stability)), cy: at(1 - y(row.score)) };
    const dot = svg("circle", { ...place, r: 5.5, class: row.on_front ? "filled" : row.baseline ? "baseline" : "hollow" });
    if (row.recommended) inside.append(svg("circle", { ...place, r: 11, class: "ring" }));
    const text = [row.name, `${comparison.score_name} ${row.score.toFixed(3)}, stability ${row.stability.toFixed(2)}, ${whole(row.n_features)} features`];
    dot.addEventListener("mousemove", (event) => showTip(event, text));
    dot.addEventListener("mouseleave", hideTip);
    inside.append(dot);
  }
}
