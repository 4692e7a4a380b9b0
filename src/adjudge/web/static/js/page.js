// Comfort for people who stay on a page all day: keys, tabs, highlighting, gaps that fill in place.
// Every page reads without this file. It never makes markup of text: what it adds is parsed by the browser from our own pages.
"use strict";
const root = document.documentElement;
root.classList.add("js");
const all = (selector, from = document) => Array.from(from.querySelectorAll(selector));
const one = (selector, from = document) => from.querySelector(selector);
const say = (words) => {
  const toast = one(".toast");
  toast.textContent = words;
  setTimeout(() => { toast.textContent = ""; }, 1600);
};

// on a narrow window the page that one is on stands in sight among the others
const here = one(".top nav [aria-current]");
if (here) {
  const bar = here.closest("nav");
  bar.scrollLeft = here.offsetLeft - bar.offsetLeft - (bar.clientWidth - here.offsetWidth) / 2;
}

// --- light or dark: the system's, until a person chooses

// A browser may keep nothing: then a choice holds for the page.
const kept = new Map();
const recall = (name) => { try { return localStorage.getItem(name); } catch { return kept.get(name) ?? null; } };
const remember = (name, value) => {
  kept.set(name, value);
  try { if (value === null) localStorage.removeItem(name); else localStorage.setItem(name, value); } catch { /* kept for now */ }
};
const chosen = recall("theme");
if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;
const flip = () => {
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  remember("theme", root.dataset.theme);
};
