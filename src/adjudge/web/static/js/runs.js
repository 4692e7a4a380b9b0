// --- the list of runs: a cursor, as in a mail program

const rows = all("table.list tbody tr");
const stepRow = (by) => {
  const at = rows.findIndex((row) => row.classList.contains("cur"));
  const next = rows[Math.max(0, Math.min(rows.length - 1, at + by))];
  for (const row of rows) row.classList.toggle("cur", row === next);
  one(".main", next).focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
};
const picked = () => all("table.list input:checked");
document.addEventListener("change", (event) => {
  const row = event.target.closest("table.list tr");
  const bar = one(".selbar");
  if (!row || !bar) return;
  row.classList.toggle("sel", event.target.checked);
  bar.hidden = picked().length === 0;
  one("span", bar).textContent = `${picked().length} selected`;
});
const copy = (words, said) => {
  const written = navigator.clipboard ? navigator.clipboard.writeText(words) : Promise.reject();
  written.then(() => say(said), () => say("The browser did not allow copying"));
};
