// --- pieces of pages: fetched as a document, so that no text is turned into markup here

const fetched = (address) => new Promise((done, failed) => {
  const request = new XMLHttpRequest();
  request.open("GET", address);
  request.responseType = "document";
  request.onload = () => (request.status === 200 && request.response ? done(request.response) : failed(request.status));
  request.onerror = () => failed(0);
  request.send();
});
const fill = async (gap) => {
  if (gap.classList.contains("is-busy")) return;
  gap.classList.add("is-busy");
  try {
    const piece = await fetched(gap.dataset.load);
    const children = Array.from(piece.body.children).map((child) => document.importNode(child, true));
    children.forEach(unfold);
    const held = gap.contains(document.activeElement);
    gap.replaceWith(...children);
    for (const child of children) if (child.matches(".soon[data-load]")) setTimeout(fill, 1000, child);  // it is not ready yet
    if (held) one("a, summary", children[0])?.focus({ preventScroll: true });
  } catch (status) {
    gap.classList.remove("is-busy");
    say(`The server did not answer (${status})`);
  }
};
const map = one("figure.map[data-load]");
if (map) fill(map);
