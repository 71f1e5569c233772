// Put the page together.
setUpTable();
setUpStrips();
setUpOverview();
setUpTips();
if (N) select(0, { open: false });

// On paper there are no pages to turn: print every selected feature (up to 200).
let before = null;
window.addEventListener("beforeprint", () => {
  before = { ...view };
  const n = F.selected.reduce((sum, one) => sum + one, 0);
  Object.assign(view, { page: 0, size: Math.min(200, Math.max(PAGE, n)) });
  showTable();
});
window.addEventListener("afterprint", () => {
  Object.assign(view, before);
  showTable();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    hideTip();
    byId("detail").classList.remove("open");
  }
});
