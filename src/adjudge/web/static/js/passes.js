// --- a pass that goes on: whenever it says that something changed, its piece of the page is fetched anew

const now = one('.now[data-live]');
if (now) {
  const here = `/passes/${encodeURIComponent(now.dataset.pass)}`;
  const changes = new EventSource(`/api${here}/events`);
  let busy = false;
  let missed = false;
  const renew = async () => {
    if (busy) { missed = true; return; }
    busy = true;
    do {
      missed = false;
      try {
        const piece = await fetched(`${here}/now`);
        const old = one(".now");
        if (!old.contains(document.activeElement) || !one('.now[data-live]', piece)) old.replaceWith(document.importNode(one(".now", piece), true));
      } catch (status) {
        say(`The server did not answer (${status})`);
      }
    } while (missed);
    busy = false;
  };
  changes.addEventListener("now", renew);
  changes.addEventListener("end", () => {
    changes.close();
    renew();
  });
}
