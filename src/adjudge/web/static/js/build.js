// --- what is written is checked while it is typed: one question at a time, the latest words next

const made = (tag, words, ...inside) => {
  const element = document.createElement(tag);
  if (words) element.textContent = words;
  element.append(...inside);
  return element;
};
const classed = (element, name) => { element.className = name; return element; };
const checking = (form, address, values, answered) => {
  let waiting = 0;
  let asking = false;
  let again = false;
  const ask = async () => {
    if (asking) { again = true; return; }
    asking = true;
    again = false;
    try { answered(await sent(address, values())); } catch (error) { answered(null, error.message); }
    asking = false;
    if (again) ask();
  };
  form.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(ask, 300); });
  ask();
};
document.addEventListener("keydown", (event) => {
  const form = event.target.closest("form.build");
  if (form && event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); form.requestSubmit(); }
});

// --- pieces of a page that take a while

for (const piece of all(".soon[data-load]")) fill(piece);
