// Comfort for people who stay on a page all day: keys, tabs, highlighting, gaps that fill in place.
// Every page reads without this file. It never makes markup of text: what it adds is parsed by the browser from our own pages.
"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  const all = (selector, from = document) => Array.from(from.querySelectorAll(selector));
  const one = (selector, from = document) => from.querySelector(selector);
  const say = (words) => {
    const toast = one(".toast");
    toast.textContent = words;
    setTimeout(() => { toast.textContent = ""; }, 1600);
  };

  // --- light or dark: the system's, until a person chooses

  const chosen = localStorage.getItem("theme");
  if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;
  const flip = () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    localStorage.setItem("theme", root.dataset.theme);
  };

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
      gap.replaceWith(...Array.from(piece.body.children).map((child) => document.importNode(child, true)));
    } catch (status) {
      gap.classList.remove("is-busy");
      say(`The server did not answer (${status})`);
    }
  };
  const map = one("figure.map[data-load]");
  if (map) fill(map);

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
    if (!wide.matches) pane.parentElement.scrollIntoView({ block: "start" });
  };
  const follow = () => {
    const id = decodeURIComponent(location.hash.slice(1));
    const target = id && document.getElementById(id);
    if (!target) return;
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
  if (tabs.length) {
    show(tabs[0].id);
    addEventListener("hashchange", follow);
    follow();
    addEventListener("load", follow);
  }

  // a link to a place that is on this page need not load it again
  const stay = (link) => {
    const address = new URL(link.getAttribute("href"), location.href);
    const id = decodeURIComponent(address.hash.slice(1));
    if (!id || address.pathname !== location.pathname || !document.getElementById(id)) return false;
    if (location.hash === address.hash) follow(); else location.hash = address.hash;
    return true;
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

  // --- what is clicked and typed

  const acts = {
    "theme": flip,
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
    "c": () => picked().length && acts["copy-ids"](),
    "n": () => stepCite(1),
    "p": () => stepCite(-1),
    "]": () => stepTurn(1),
    "[": () => stepTurn(-1),
    "f": nextFilter,
    "d": flip,
    "y": () => copy(location.href, "Link copied"),
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
    if (named) { event.preventDefault(); named.click(); return; }
    if (/^[1-5]$/.test(event.key) && tabs[Number(event.key) - 1]) show(tabs[Number(event.key) - 1].id);
    if (!Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    keys[event.key]();
  });
})();
