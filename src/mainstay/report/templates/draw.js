// Small helpers: elements, numbers, the data. Text from the data only ever becomes text nodes.
const data = JSON.parse(document.getElementById("data").textContent);
const F = data.features;
const N = F.name.length;
const hasRanks = "mean_rank" in F;
const hasTwins = "group_count" in F;
const byId = (id) => document.getElementById(id);
const label = (i) => F.label[i] ?? F.name[i];

function html(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

const share = (count) => count / data.n_runs;
const percent = (x) => `${(100 * x).toFixed((x > 0 && x < 0.01) || (x > 0.99 && x < 1) ? 1 : 0)}%`;
const at = (x) => `${(100 * Math.min(1, Math.max(0, x))).toFixed(2)}%`;
const whole = (n) => n.toLocaleString("en");
const rounded = (x, digits) => (x === null ? "–" : Number(x.toPrecision(digits)).toString());
const short = (x) => (x < 100 ? x.toFixed(1) : whole(Math.round(x)));
const interval = (i) => `${percent(F.lower[i])} to ${percent(F.upper[i])}`;
const lastRank = hasRanks ? F.edges[F.edges.length - 1] - 1 : N;
const onRanks = (rank) => (lastRank > 1 ? Math.log(Math.max(1, rank)) / Math.log(lastRank) : 0);

function rankTicks() {
  const ticks = [1];
  for (let power = 1; power <= lastRank; power *= 10) {
    for (const step of [1, 3]) if (step * power > 1 && step * power <= lastRank) ticks.push(step * power);
  }
  return lastRank > 300 ? ticks.filter((tick) => /^10*$/.test(tick)) : ticks;
}

const tip = byId("tip");

function showTip(event, lines) {
  tip.replaceChildren(...lines.map((line, i) => html(i ? "div" : "strong", {}, line)));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const x = Math.min(event.clientX + 14, window.innerWidth - box.width - 8);
  const y = event.clientY + 18 + box.height > window.innerHeight ? event.clientY - box.height - 12 : event.clientY + 18;
  tip.style.left = `${Math.max(8, x)}px`;
  tip.style.top = `${Math.max(8, y)}px`;
}

function hideTip() {
  tip.hidden = true;
}

const told = (i) => [
  label(i),
  `selected in ${percent(share(F.count[i]))} of the runs (${interval(i)})`,
  hasRanks ? `rank ${i + 1}, mean rank ${short(F.mean_rank[i])}` : `rank ${i + 1}`,
];
