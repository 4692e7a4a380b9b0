// --- what is under way: steps come as events, and are shown as the page's own pieces

const steps = one(".steps[data-job]");
if (steps && one('.stands[data-state="running"]')) {
  const here = `/live/${steps.dataset.job}`;
  const events = new EventSource(`/api${here}/events?after=${steps.children.length}`);
  let filling = Promise.resolve();
  const more = async () => {
    const piece = await fetched(`${here}/steps?after=${steps.children.length}`);
    one(".no-step")?.remove();
    steps.append(...all("li", piece).map((item) => document.importNode(item, true)));
    const stands = document.importNode(one(".stands", piece), true);
    if (!stands.isEqualNode(one(".stands"))) one(".stands").replaceWith(stands);  // a link in it may just be clicked
  };
  const again = () => { filling = filling.then(more).catch((status) => say(`The server did not answer (${status})`)); };
  events.addEventListener("step", again);
  events.addEventListener("end", () => {
    events.close();
    again();
    for (const form of all("form[data-send$='/stop']")) form.hidden = true;
  });
}
