// --- Ctrl+Enter sends the form that one is writing in, or the page's only one that is to be sent

document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || one("dialog[open]")) return;
  const form = event.target.closest("form[data-send]") || one(".deck form[data-send], .ask");
  if (!form) return;
  event.preventDefault();
  form.requestSubmit();
});
