// --- a rubric that is being written: what it says, what is wrong, and in which line

const draft = one("#rubric-text");
if (draft) {
  const said = one("#rubric-said");
  const goTo = (number) => {
    const start = draft.value.split("\n").slice(0, number - 1).reduce((sum, line) => sum + line.length + 1, 0);
    const end = draft.value.indexOf("\n", start);
    draft.focus();
    draft.setSelectionRange(start, end < 0 ? draft.value.length : end);
    draft.scrollTop = Math.max(0, (number - 6) * 18);
  };
  const atLine = (number) => {
    const button = made("button", `line ${number}`);
    button.type = "button";
    button.addEventListener("click", () => goTo(number));
    return button;
  };
  const sign = (kind, words) => classed(made("span", words), `v ${kind}`);
  const counts = (found) => (found.dimensions ? `${found.dimensions} dimensions, version ${found.version}` : `${found.criteria} criteria`);
  const remark = (each) => {
    const head = made("b", each.item ? `${each.item}: ${each.words}` : each.words);
    return classed(made("p", null, head, ` ${each.wrong}. Better: ${each.better}. `, ...(each.line ? [atLine(each.line)] : [])), "gate");
  };
  const told = (found) => {
    if (found.fault) {
      const place = found.fault.line ? [made("p", null, atLine(found.fault.line))] : [];
      return [made("p", null, sign("fail", "no rubric yet")), classed(made("p", found.fault.words), "wrong"), ...place];
    }
    const known = found.known ? [classed(made("p", `Its content is kept already, as ${found.known}.`), "muted")] : [];
    const remarks = found.remarks.length ? sign("warn", `${found.remarks.length} could be put better`) : sign("pass", "nothing to put better");
    return [made("p", null, made("b", found.name), `, ${counts(found)}`), classed(made("p", found.hash), "mono muted"), ...known, made("p", null, remarks), ...found.remarks.map(remark)];
  };
  checking(draft.form, draft.dataset.check, () => ({ text: draft.value }), (found, failure) => {
    draft.toggleAttribute("aria-invalid", false);
    if (!found || found.fault) draft.setAttribute("aria-invalid", "true");
    const parts = found ? told(found) : [classed(made("p", failure), "wrong")];
    said.replaceChildren(classed(made("h2", "Check"), "h3"), classed(made("div", null, ...parts), "said"));
  });
}
