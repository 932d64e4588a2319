// The invalidation table's filter by resource and mode; a link to a row shows it whatever is filtered.

import { $, $$ } from "../lib/dom.ts";
import { decoded } from "../lib/encoded.ts";

const form = $("form[data-rule-filter]");
/** @type {Record<string, HTMLSelectElement>} */
const fields = { resource: $("select[name=resource]", form), mode: $("select[name=mode]", form) };
const rows = $$(".cache-rules tr[id]");

form.hidden = false;
read();
form.addEventListener("input", () => {
  apply();
  write();
});
form.addEventListener("submit", (event) => event.preventDefault());
addEventListener("hashchange", reveal);
addEventListener("popstate", () => {
  read();
  reveal();
});
reveal();

function read() {
  const query = new URLSearchParams(location.search);
  for (const name of ["resource", "mode"]) {
    const field = fields[name];
    const wanted = query.get(name) ?? "";
    field.value = [...field.options].some(({ value }) => value === wanted) ? wanted : "";
  }
  apply();
}

function write() {
  const query = new URLSearchParams(
    Object.entries(fields).flatMap(([name, { value }]) => (value ? [[name, value]] : [])),
  );
  history.replaceState(null, "", `${location.pathname}${query.size ? `?${query}` : ""}`);
}

function apply() {
  const { resource, mode } = fields;
  let shown = 0;
  for (const row of rows) {
    row.hidden =
      (resource.value && row.parentElement.dataset.resource !== resource.value)
      || (mode.value && !row.dataset.modes.split(" ").includes(mode.value));
    if (!row.hidden) shown += 1;
  }
  for (const body of $$(".cache-rules tbody")) body.hidden = !body.querySelector("tr[id]:not([hidden])");
  $("[data-rule-count]").textContent = shown === rows.length ? `${shown} rows` : `${shown} of ${rows.length} rows`;
  $("[data-rule-none]").hidden = shown > 0;
  $(".cache-rules").hidden = shown === 0;
}

/** A row that the address names is shown, if need be without the filter. */
function reveal() {
  const row = rows.find(({ id }) => id === decoded(location.hash.slice(1)));
  if (!row) return;
  if (row.hidden) {
    form.reset();
    apply();
  }
  row.scrollIntoView({ block: "center" });
}
