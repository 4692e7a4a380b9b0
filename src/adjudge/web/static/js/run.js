// --- exhibits: one at a time, always the one that holds the address's target

const tabs = all(".exhibits .tab");
const wide = matchMedia("(min-width: 1081px)");
const show = (id) => {
  for (const tab of tabs) tab.hidden = tab.id !== id;
  for (const link of all(".tabs a")) {
    const on = link.hash === `#${id}`;
    link.classList.toggle("on", on);
    if (on) link.setAttribute("aria-current", "true"); else link.removeAttribute("aria-current");
  }
};
const only = (selector, chosenOne) => {
  for (const each of all(`${selector}.is-on`)) each.classList.remove("is-on");
  if (chosenOne) chosenOne.classList.add("is-on");
};
const bring = (target, tab) => {
  const pane = tab.parentElement;
  const offset = (element) => element.getBoundingClientRect().top - pane.getBoundingClientRect().top + pane.scrollTop;
  const turn = target.closest(".turn");
  const room = pane.clientHeight * 0.55;
  const top = offset(target);
  const head = turn ? offset(turn) : top;
  pane.scrollTo({ top: Math.max(0, top - head < room ? head - 1 : top - room / 2) });
  const exhibits = pane.parentElement;
  const hidden = exhibits.getBoundingClientRect().top < one(".top").getBoundingClientRect().bottom;
  if (hidden || !wide.matches) exhibits.scrollIntoView({ block: "start" });
};
// a place that is not on the page is in a gap: the page is opened there, once
const openAround = (id) => {
  const address = new URL(location.href);
  if (!/^(s\d+\.)*[et]\d+$/.test(id) || address.searchParams.has("at")) return;
  address.searchParams.set("at", id);
  location.replace(address);
};
const follow = () => {
  const id = decodeURIComponent(location.hash.slice(1)) || new URLSearchParams(location.search).get("at") || "";
  const target = id && document.getElementById(id);
  if (!target) { openAround(id); return; }
  for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  const tab = target.closest(".tab");
  if (tab) {
    show(tab.id);
    if (target !== tab) {
      bring(target, tab);
      only(".entry", target.closest(".entry"));
      only("mark");
      for (const part of all(`mark[data-of="${CSS.escape(id)}"]`)) part.classList.add("is-on");
    }
  }
  const cite = one(`.card.is-on .cite[href$="#${CSS.escape(id)}"]`) || one(`.cite[href$="#${CSS.escape(id)}"]`);
  only(".cite", cite);
  const card = cite ? cite.closest(".card, .dim") : target.closest(".card");
  if (card) {
    only(".card", card);
    if (wide.matches) card.scrollIntoView({ block: "nearest" });
  }
};

// --- tool calls: folded with their results, or all open until the reader folds them again

const openCalls = (from, opens) => {
  for (const call of all("details.call", from)) {
    if (opens && call.open) call.dataset.stays = "";
    call.open = opens || "stays" in call.dataset;  // what is cited stands open both ways
  }
};
const unfold = (from) => { if (recall("calls") === "open") openCalls(from, true); };
const flipCalls = () => {
  const opens = recall("calls") !== "open";
  remember("calls", opens ? "open" : null);
  openCalls(document, opens);
  tellCalls();
  if (location.hash) follow();
};
const tellCalls = () => one('[data-act="calls"]')?.setAttribute("aria-pressed", String(recall("calls") === "open"));

// --- where one was reading: kept with the page's place in the history, and opened again when one comes back

const reading = history.state?.reading;
const keepReading = () => {
  const tab = tabs.find((each) => !each.hidden);
  const pane = tab.parentElement;
  const edge = pane.getBoundingClientRect().top;
  const unit = all(".turn > :not(h3)", tab).find((each) => each.getBoundingClientRect().bottom > edge);
  const id = unit && (unit.id || one(".entry", unit)?.id);
  const at = { tab: tab.id, top: pane.scrollTop, id, offset: unit && unit.getBoundingClientRect().top - edge };
  history.replaceState({ ...history.state, reading: at }, "");
};
const comeBack = async ({ tab, top, id, offset }) => {
  if (!document.getElementById(tab)) return;
  show(tab);
  const pane = document.getElementById(tab).parentElement;
  const [, of, place] = /^(?:(.*)\.)?e(\d+)$/.exec(id || "") || [];
  const gap = place && !document.getElementById(id) && all(".gap[data-end]", pane).find(
    ({ dataset }) => dataset.of === (of || "") && Number(dataset.start) < place && place <= Number(dataset.end),
  );
  if (gap) await fill(gap, place - 1);
  const unit = id && document.getElementById(id)?.closest(".turn > *");
  if (unit) pane.scrollTop += unit.getBoundingClientRect().top - pane.getBoundingClientRect().top - offset;
  else pane.scrollTop = top;
};
let settled;
const scrolled = () => {
  clearTimeout(settled);
  settled = setTimeout(keepReading, 150);
};
if (tabs.length) {
  show(tabs[0].id);
  unfold(document);
  tellCalls();
  addEventListener("hashchange", follow);
  follow();
  addEventListener("load", async () => {
    follow();
    const pane = tabs[0].parentElement;
    if (reading) await comeBack(reading);
    pane.addEventListener("scroll", scrolled, { passive: true });
    watchGaps(pane);
  });
}

// a link to a place that is on this page need not load it again; one to a tab with another query shows something else in it
const stay = (link) => {
  const address = new URL(link.getAttribute("href"), location.href);
  const id = decodeURIComponent(address.hash.slice(1));
  const target = id && document.getElementById(id);
  if (!target || address.pathname !== location.pathname) return false;
  if (target.matches(".tab") && address.search !== location.search) return false;
  if (location.hash !== address.hash) location.hash = address.hash;
  if (location.search !== address.search) history.replaceState(null, "", address);  // what came into a gap is there only with `at`
  follow();  // at once: the next key may come before the browser says that the hash changed
  return true;
};

// a link to keep names the judgment of the card, look or quote that it leads to
const toKeep = () => {
  const address = new URL(location.href);
  const { evaluation, reading: read } = one(".panes")?.dataset || {};
  const judgment = /^#(v\d|L\d|s\d+$)/.test(address.hash) ? evaluation : /^#(d\d|r\d)/.test(address.hash) ? read : null;
  if (judgment) address.searchParams.set("judgment", judgment);
  return address.href;
};

// --- verdicts

const cards = () => all(".cards .card").filter((card) => !card.hidden);
const step = (by) => {
  const shown = cards();
  if (!shown.length) return;
  const at = shown.findIndex((card) => card.classList.contains("is-on"));
  const card = shown[Math.min(shown.length - 1, Math.max(0, at + by))];
  only(".card", card);
  card.scrollIntoView({ block: "nearest" });
  const cite = one("a.cite", card);
  if (cite) open(cite);
};
const open = (cite) => { if (!stay(cite)) location.href = cite.href; };
const stepCite = (by) => {
  const card = one(".card.is-on");
  if (!card) { step(1); return; }
  const cites = all("a.cite", card);
  const at = cites.findIndex((cite) => cite.classList.contains("is-on"));
  const next = cites[(at + by + cites.length) % cites.length];
  if (next) open(next);
};
const filter = (want) => {
  for (const button of all("[data-show]")) button.setAttribute("aria-pressed", String(button.dataset.show === want));
  for (const card of all(".cards .card")) {
    card.hidden = !(want === "all" || card.dataset.v === want || (want === "gate" && card.dataset.cell === "g"));
  }
};
const nextFilter = () => {
  const order = ["all", "fail", "gate"];
  const on = one('[data-show][aria-pressed="true"]');
  if (on) filter(order[(order.indexOf(on.dataset.show) + 1) % order.length]);
};
const stepTurn = (by) => {
  const tab = tabs.find((each) => !each.hidden);
  if (!tab) return;
  const pane = tab.parentElement;
  const turns = all(".turn", tab);
  const top = pane.getBoundingClientRect().top + 2;
  const at = turns.findLastIndex((turn) => turn.getBoundingClientRect().top <= top);
  const next = turns[Math.max(0, Math.min(turns.length - 1, at + by))];
  if (next) pane.scrollBy({ top: next.getBoundingClientRect().top - pane.getBoundingClientRect().top });
};
