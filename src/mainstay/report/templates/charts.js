// The charts are drawn already; here they learn to answer to the mouse and the keyboard.
function showStrips() {
  const n = Number(byId("how-many").value);
  for (const row of document.querySelectorAll("#strips [role=option]")) row.hidden = Number(row.dataset.i) >= n;
  markStrips(current);
}

function markStrips(i) {
  const rows = [...document.querySelectorAll("#strips [role=option]:not([hidden])")];
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
    const rows = [...row.parentElement.children].filter((one) => !one.hidden);
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

function setUpOverview() {
  const area = document.querySelector("#overview .area");
  const ring = svg("circle", { r: 9, class: "ring", visibility: "hidden" });
  area.querySelector("svg").append(ring);
  const place = (rank) => (N > 1 ? Math.log(rank) / Math.log(N) : 0.5);

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

// What marks say stands in their title elements; pointing at one shows it at once.
function setUpTips() {
  for (const title of document.querySelectorAll(".plot title")) {
    const [mark, lines] = [title.parentElement, title.textContent.split("\n")];
    title.remove();
    mark.addEventListener("mousemove", (event) => showTip(event, lines));
    mark.addEventListener("mouseleave", hideTip);
  }
}
