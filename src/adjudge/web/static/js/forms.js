// --- forms that change something: sent as JSON with a header of ours, which no page elsewhere can send

// A field is a string; `data-as` says that it is a number, a list (one item a line, or each box that is ticked), or a truth.
const picked_of = (fields) => (fields[0].type === "radio" ? fields.find((field) => field.checked) : fields[0]);
const read = {
  "number": (fields) => {
    const field = picked_of(fields);
    return field && field.value !== "" ? Number(field.value) : null;
  },
  "list": (fields) => fields.flatMap((field) => (field.type === "checkbox" ? (field.checked ? [field.value] : []) : field.value.split("\n").filter((line) => line.trim()))),
  "truth": (fields) => fields[0].checked,
  "text": (fields) => {
    const field = picked_of(fields);
    return field && field.value !== "" ? field.value : null;
  },
};
const valuesOf = (form) => {
  const named = new Map();
  for (const field of form.elements) if (field.name && !field.disabled) named.set(field.name, [...(named.get(field.name) || []), field]);
  return Object.fromEntries([...named].map(([name, fields]) => [name, read[fields[0].dataset.as || "text"](fields)]));
};
const sent = async (address, values, method = "POST") => {
  const answer = await fetch(address, { method, body: JSON.stringify(values), headers: { "content-type": "application/json", "x-adjudge": "1" } });
  const said = await answer.json();
  if (!answer.ok) throw new Error(said.detail || `The server answered ${answer.status}`);
  return said;
};
const submit = async (form) => {
  const message = one(".msg", form);
  if (form.ariaBusy === "true" || (form.dataset.sure && !confirm(form.dataset.sure))) return;
  form.ariaBusy = "true";
  message.hidden = true;
  try {
    const said = await sent(form.dataset.send, valuesOf(form), form.dataset.method);
    if (said.href) location.assign(said.href); else location.reload();
  } catch (error) {
    message.textContent = error instanceof TypeError ? "The server does not answer. What stands here is kept: send it again when it does." : error.message;
    message.hidden = false;
    form.ariaBusy = "false";
  }
};
document.addEventListener("submit", (event) => {
  if (!event.target.dataset.send) return;
  event.preventDefault();
  submit(event.target);
});
