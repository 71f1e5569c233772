// The feature table: sort, search, page, download.
const columns = [
  { key: "rank", title: "#", value: (i) => i + 1, text: (i) => whole(i + 1), number: true },
  { key: "feature", title: "Feature", value: (i) => F.name[i] },
  { key: "frequency", title: "Frequency", value: (i) => F.count[i], cell: frequencyCell, number: true, down: true },
];
if (hasTwins) columns.push({ key: "group", about: "group_frequency", title: "It or a twin", value: (i) => F.group_count[i], text: (i) => percent(share(F.group_count[i])), number: true, down: true, wide: true });
if ("q_value" in F) columns.push({ key: "q_value", title: "q-value", value: (i) => F.q_value[i], text: (i) => rounded(F.q_value[i], 2), number: true });
if (hasRanks) columns.push({ key: "mean_rank", title: "Mean rank", value: (i) => F.mean_rank[i], text: (i) => `${short(F.mean_rank[i])} ± ${short(F.sd_rank[i])}`, number: true, wide: true });
const compareText = new Intl.Collator(undefined, { numeric: true }).compare;
const PAGE = 20;
const view = { key: "rank", down: false, page: 0, size: PAGE, rows: [] };

function frequencyCell(i) {
  const bar = svg("svg", { class: "bar", width: "100%", height: 14, "aria-hidden": "true" },
    svg("rect", { width: "100%", height: 6, y: 4, rx: 3, class: "track" }),
    svg("rect", { width: at(share(F.count[i])), height: 6, y: 4, rx: 3, class: F.selected[i] ? "full" : "part" }),
    svg("line", { x1: at(F.lower[i]), x2: at(F.upper[i]), y1: 7, y2: 7, class: "interval" }));
  return html("span", { class: "share-bar" }, html("span", { class: "share" }, percent(share(F.count[i]))), bar);
}

function arrange() {
  const wanted = byId("search").value.trim().toLocaleLowerCase();
  const only = byId("only-selected").checked;
  const column = columns.find((one) => one.key === view.key);
  const sign = view.down ? -1 : 1;
  view.rows = [...Array(N).keys()].filter((i) => (!only || F.selected[i])
    && (!wanted || F.name[i].toLocaleLowerCase().includes(wanted) || label(i).toLocaleLowerCase().includes(wanted)));
  view.rows.sort((a, b) => {
    const [x, y] = [column.value(a), column.value(b)];
    return sign * (typeof x === "string" ? compareText(x, y) : x - y) || a - b;
  });
  view.page = Math.min(view.page, Math.max(0, Math.ceil(view.rows.length / view.size) - 1));
}

function showTable() {
  arrange();
  const start = view.page * view.size;
  const shown = view.rows.slice(start, start + view.size);
  const body = document.querySelector("#table tbody");
  body.replaceChildren(...shown.map(tableRow));
  if (!shown.length) body.append(html("tr", {}, html("td", { colspan: columns.length, class: "empty" }, "No feature matches the search.")));
  const total = view.rows.length === N ? whole(N) : `${whole(view.rows.length)} (of ${whole(N)})`;
  byId("count").textContent = shown.length ? `${whole(start + 1)}–${whole(start + shown.length)} of ${total}` : `0 of ${whole(N)}`;
  byId("previous").disabled = view.page === 0;
  byId("next").disabled = start + view.size >= view.rows.length;
  for (const head of document.querySelectorAll("#table th")) {
    head.setAttribute("aria-sort", head.dataset.key !== view.key ? "none" : view.down ? "descending" : "ascending");
  }
  markTable(current);
}

function tableRow(i) {
  const row = html("tr", { "data-i": i });
  for (const column of columns) {
    const cell = html("td", { class: `${column.number ? "number" : ""} ${column.wide ? "wide" : ""} ${column.key}`.trim() });
    if (column.key === "feature") {
      const button = html("button", { type: "button", class: "name" }, html("bdi", {}, label(i)));
      cell.append(html("i", { class: `dot ${F.selected[i] ? "filled" : "hollow"}`, title: F.selected[i] ? "selected" : "not selected" }), button);
    } else {
      cell.append(column.cell ? column.cell(i) : column.text(i));
    }
    row.append(cell);
  }
  return row;
}

function markTable(i) {
  for (const row of document.querySelectorAll("#table tbody tr[data-i]")) {
    row.classList.toggle("current", Number(row.dataset.i) === i);
    row.querySelector("button").setAttribute("aria-pressed", Number(row.dataset.i) === i);
  }
}

function turn(step) {
  view.page += step;
  showTable();
}

function setUpTable() {
  const head = document.querySelector("#table thead tr");
  for (const column of columns) {
    const button = html("button", { type: "button", title: data.columns[column.about ?? column.key] }, column.title, html("i", { class: "arrow", "aria-hidden": "true" }));
    button.addEventListener("click", () => {
      view.down = view.key === column.key ? !view.down : Boolean(column.down);
      Object.assign(view, { key: column.key, page: 0 });
      showTable();
    });
    head.append(html("th", { scope: "col", "data-key": column.key, class: `${column.number ? "number" : ""} ${column.wide ? "wide" : ""} ${column.key}`.trim() }, button));
  }
  const body = document.querySelector("#table tbody");
  body.addEventListener("click", (event) => {
    const row = event.target.closest("tr[data-i]");
    if (row) select(Number(row.dataset.i));
  });
  body.addEventListener("keydown", (event) => {
    const step = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
    const other = step && event.target.closest("tr")[step];
    if (!other) return;
    event.preventDefault();
    other.querySelector("button").focus();
  });
  byId("search").addEventListener("input", () => { view.page = 0; showTable(); });
  byId("only-selected").addEventListener("change", () => { view.page = 0; showTable(); });
  byId("previous").addEventListener("click", () => turn(-1));
  byId("next").addEventListener("click", () => turn(1));
  byId("download").addEventListener("click", download);
  listeners.push(markTable);
  showTable();
}

// ------------------------------------------------------------------ CSV

// A spreadsheet takes text that starts like this for a formula; the apostrophe keeps it text.
const safeText = (text) => (/^[=+\-@\t\r\n]/.test(text) ? `'${text}` : text);
const quoted = (text) => `"${safeText(text).replaceAll('"', '""')}"`;

function csv() {
  const fields = [
    ["rank", (i) => i + 1],
    ["feature", (i) => quoted(F.name[i])],
    ["selected", (i) => F.selected[i]],
    ["frequency", (i) => share(F.count[i])],
    ["frequency_lower", (i) => F.lower[i]],
    ["frequency_upper", (i) => F.upper[i]],
    ["score", (i) => F.score[i]],
  ];
  if (hasTwins) fields.push(["group_frequency", (i) => share(F.group_count[i])], ["n_twins", (i) => F.n_twins[i]]);
  for (const name of ["mean_rank", "sd_rank", "q_value", "group_q_value"]) if (name in F) fields.push([name, (i) => F[name][i]]);
  const lines = view.rows.map((i) => fields.map(([, value]) => value(i) ?? "").join(","));
  return `\ufeff${[fields.map(([name]) => name).join(","), ...lines].join("\r\n")}\r\n`;
}

function download() {
  const link = html("a", { href: URL.createObjectURL(new Blob([csv()], { type: "text/csv" })), download: "features.csv" });
  link.click();
  URL.revokeObjectURL(link.href);
}
