// --- pieces of pages: fetched as a document, so that no text is turned into markup here

const fetched = (address) => new Promise((done, failed) => {
  const request = new XMLHttpRequest();
  request.open("GET", address);
  request.responseType = "document";
  request.onload = () => (request.status === 200 && request.response ? done(request.response) : failed(request.status));
  request.onerror = () => failed(0);
  request.send();
});
// a turn that goes on in the next piece is one turn
const join = (turn) => {
  const name = turn?.dataset.continues;
  const before = turn?.previousElementSibling;
  if (!name || !before?.matches(".turn") || (before.id !== name && before.dataset.continues !== name)) return;
  before.append(...Array.from(turn.children).slice(1));
  turn.remove();
};
// a gap above the middle of what is read fills from its end, and what stands below it stays where it is
const isAbove = (gap, pane) => {
  const seen = pane.getBoundingClientRect();
  return pane.scrollTop > 0 && gap.getBoundingClientRect().top < seen.top + seen.height / 2;
};
const fill = async (gap, near = null) => {
  if (gap.classList.contains("is-busy")) return;
  gap.classList.add("is-busy");
  try {
    const address = new URL(gap.dataset.load, location.href);
    if (near !== null) address.searchParams.set("near", near);
    const piece = await fetched(address);
    const children = Array.from(piece.body.children).map((child) => document.importNode(child, true));
    children.forEach(unfold);
    const first = gap.contains(document.activeElement) && children.length ? one("a, summary", children[0]) : null;
    const pane = gap.closest(".scroll");
    const behind = gap.nextElementSibling;
    const stays = pane && behind && isAbove(gap, pane) ? behind.children[1] || behind : null;
    const top = stays?.getBoundingClientRect().top;
    gap.replaceWith(...children);
    for (const child of children) if (child.matches(".soon[data-load]")) setTimeout(fill, 1000, child);  // it is not ready yet
    join(behind);
    join(children[0]);
    if (stays) pane.scrollTop += stays.getBoundingClientRect().top - top;
    if (pane) watchGaps(pane);
    first?.focus({ preventScroll: true });
  } catch (status) {
    gap.classList.remove("is-busy");
    say(`The server did not answer (${status})`);
  }
};
// gaps fill by themselves where one reads
const watchGaps = (pane) => { for (const gap of all(".gap[data-end]", pane)) watched.observe(gap); };
const watched = new IntersectionObserver((seen) => {
  for (const { target, isIntersecting } of seen) {
    if (!isIntersecting || !target.isConnected) continue;
    watched.unobserve(target);
    fill(target, isAbove(target, target.closest(".scroll")) ? target.dataset.end - 1 : null);
  }
}, { root: one(".scroll"), rootMargin: "200px 0px" });
const map = one("figure.map[data-load]");
if (map) fill(map);
