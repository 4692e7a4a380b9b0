// --- what is clicked and typed

const acts = {
  "theme": flip,
  "calls": flipCalls,
  "keys": () => one("#keys").showModal(),
  "copy-ids": () => copy(picked().map((box) => box.value).join(" "), "Ids copied"),
};
document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button && button.dataset.act) acts[button.dataset.act]();
  if (button && button.dataset.show) filter(button.dataset.show);
  const link = event.target.closest("a");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  const gap = link.closest(".gap[data-load]");
  if (gap) { event.preventDefault(); fill(gap); return; }
  if (tabs.length && link.getAttribute("href") && stay(link)) event.preventDefault();
});
const keys = {
  "j": () => (rows.length ? stepRow(1) : step(1)),
  "k": () => (rows.length ? stepRow(-1) : step(-1)),
  "x": () => one("tr.cur input")?.click(),
  "c": () => picked().length && one('.selbar [formaction="/compare"]')?.click(),
  "n": () => stepCite(1),
  "p": () => stepCite(-1),
  "]": () => stepTurn(1),
  "[": () => stepTurn(-1),
  "g": () => { const field = one("#go"); if (field) { show("record"); field.focus(); } },
  "f": nextFilter,
  "o": () => tabs.length && flipCalls(),
  "r": () => (one('.card.is-on a[href^="/review/"]') || one('.card a[href^="/review/"], .dim a[href^="/review/"]'))?.click(),
  "d": flip,
  "y": () => (picked().length ? acts["copy-ids"]() : copy(toKeep(), "Link copied")),
  "?": acts.keys,
  "/": () => one("input[type=search]")?.focus(),
};
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("textarea, select, input:not([type=radio]):not([type=checkbox])");
  if (typing) {
    if (event.key === "Escape") typing.blur();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || one("dialog[open]")) return;
  const named = one(`[data-key="${CSS.escape(event.key)}"]`);
  if (named) {
    event.preventDefault();
    named.click();
    if (named.matches("input[type=radio]")) one("textarea", named.form)?.focus();  // an answer needs its reason next
    return;
  }
  if (/^[1-5]$/.test(event.key) && tabs[Number(event.key) - 1]) show(tabs[Number(event.key) - 1].id);
  if (!Object.hasOwn(keys, event.key)) return;
  event.preventDefault();
  keys[event.key]();
});
