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
    if (pane) letGo(pane);
    if (pane) watchGaps(pane);
    first?.focus({ preventScroll: true });
  } catch (status) {
    gap.classList.remove("is-busy");
    say(`The server did not answer (${status})`);
  }
};

// --- what lies far from where one reads becomes a gap again, so that a page does not grow with what was read

const MOST = 600, FAR = 3;  // entries that may stand on the page; heights of the pane from which on one is let go
const pattern = one(".gap[data-end]")?.cloneNode(true);
const places = (turns) => turns.flatMap((turn) => all(".entry[id]", turn)).map(({ id }) => /^(?:(.*)\.)?e(\d+)$/.exec(id));
const gapOf = (of, start, end) => {
  const gap = pattern.cloneNode(true);
  const link = one("a", gap);
  const [load, page] = [new URL(gap.dataset.load, location.href), new URL(link.href)];
  const first = `${of ? `${of}.` : ""}e${start + 1}`;
  for (const [name, value] of Object.entries({ of, start, end })) {
    gap.dataset[name] = value;
    if (value === "") load.searchParams.delete(name); else load.searchParams.set(name, value);
  }
  page.searchParams.set("at", first);
  page.hash = first;
  [gap.dataset.load, link.href, one("span", gap).textContent] = [load, page, `${(end - start).toLocaleString("en")} entries that were read`];
  return gap;
};
const swap = (turns) => {
  const found = places(turns);
  const of = found[0][1] || "";
  let [start, end] = [Math.min(...found.map((each) => each[2])) - 1, Math.max(...found.map((each) => each[2]))];
  for (const beside of [turns[0].previousElementSibling, turns.at(-1).nextElementSibling]) {
    if (!beside?.matches(".gap[data-end]") || beside.dataset.of !== of || beside.matches(".is-busy")) continue;
    [start, end] = [Math.min(start, beside.dataset.start), Math.max(end, beside.dataset.end)];
    beside.remove();
  }
  turns[0].before(gapOf(of, start, end));
  for (const turn of turns) turn.remove();
};
const letGo = (pane) => {
  const tab = one("#record", pane);
  if (!pattern || !tab || all(".entry", tab).length <= MOST) return;
  const seen = pane.getBoundingClientRect();
  const isFar = (turn) => {
    const { top, bottom } = turn.getBoundingClientRect();
    const away = Math.max(top - seen.bottom, seen.top - bottom);
    return away > FAR * seen.height && places([turn]).length && !one(".back, .place, mark, :target", turn) && !turn.contains(document.activeElement);
  };
  const stays = all(".turn > *", tab).find((each) => each.getBoundingClientRect().bottom > seen.top);
  const top = stays?.getBoundingClientRect().top;
  const stretches = [[]];
  for (const turn of all(".turn", tab)) {
    if (!isFar(turn)) { stretches.push([]); continue; }
    const last = stretches.at(-1).at(-1);
    if (last && last.nextElementSibling !== turn) stretches.push([]);
    stretches.at(-1).push(turn);
  }
  for (const stretch of stretches) if (stretch.length) swap(stretch);
  if (stays) pane.scrollTop += stays.getBoundingClientRect().top - top;
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
