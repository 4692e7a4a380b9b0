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
  const over = () => { for (const form of all("form[data-send$='/stop']")) form.hidden = true; };
  events.addEventListener("end", () => {
    events.close();
    again();
    over();
  });
  events.addEventListener("error", () => {
    if (events.readyState !== EventSource.CLOSED) {  // the browser asks again by itself
      say("The server does not answer");
      return;
    }
    over();
    one(".stands").replaceChildren(classed(made("span", "not known any more"), "v warn"), classed(made("p", "The server ended meanwhile, and forgot this job. What it had stored is there; what it had not is gone."), "msg warn"));
  });
}
