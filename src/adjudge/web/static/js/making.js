// --- a run that is being built: agents with their models, what will happen, and what is wrong where

const building = one("#build-form");
const modelsIn = (field) => (field ? field.value.split(/\s+/).filter(Boolean) : []);
const withModels = (agent, field) => {
  const models = modelsIn(field);
  return models.length ? models.map((model) => ({ agent, model })) : [{ agent, model: null }];
};
read.agents = (fields) => {
  const chosen = fields.filter((field) => field.checked).flatMap((field) => withModels(field.value, one(`[data-model-of="${CSS.escape(field.value)}"]`)));
  return one("[data-own-agent]").checked ? [...chosen, ...withModels(one("[data-own-path]").value, one("[data-own-model]"))] : chosen;
};
if (building) {
  const put = (name, words) => { one(`#build-${name}`).textContent = words; };
  const mark = (faults) => {
    for (const place of all(".wrong", building)) place.textContent = "";
    for (const field of all("[aria-invalid]", building)) field.removeAttribute("aria-invalid");
    for (const fault of faults) {
      const of = fault.agent && (one(`[data-wrong-of="${CSS.escape(fault.agent)}"]`) || one("[data-wrong-own]"));
      const place = of || one(`[data-wrong="${CSS.escape(fault.field)}"]`);
      place.textContent += (place.textContent ? "\n" : "") + fault.words;
      const field = !of && building.elements[fault.field];
      if (field && field.setAttribute) field.setAttribute("aria-invalid", "true");
    }
    const open = faults.length;
    put("open", open ? `${open} ${open === 1 ? "thing is" : "things are"} missing or wrong: ${[...new Set(faults.map((fault) => fault.agent || fault.field))].join(", ")}.` : "");
  };
  let typed = false;
  building.addEventListener("input", () => { typed = true; });
  checking(building, building.dataset.check, () => valuesOf(building), (found, failure) => {
    if (!found) { put("open", failure); return; }
    one("#build-happens").replaceChildren(...found.happens.flatMap(([name, words]) => [made("dt", name), made("dd", words)]));
    for (const name of ["judging", "agent"]) { put(name, found[name].figure); put(`${name}-why`, found[name].words); }
    put("task", found.task);
    put("command", found.command);
    if (typed) mark(found.faults);  // a form that nobody has touched yet is not wrong
  });
  one("#build-copy").addEventListener("click", () => copy(one("#build-command").textContent, "Command copied"));
}
