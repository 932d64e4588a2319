// Share, "Embed": the code of a frame that shows the same view on another page.

import { h, fill } from "../../lib/dom.js";
import { copyRow, dim, named } from "./common.js";
/** @import { Shared } from "./common.js" */

const HEIGHTS = ["480", "640", "800"];
/** @type {[view: string, label: string][]} */
const VIEWS = [
  ["", "everything"],
  ["stage", "the stage"],
  ["matrix", "the matrix"],
  ["story", "the story"],
];
const SIGNS = { "&": "&amp;", '"': "&quot;", "<": "&lt;", ">": "&gt;" };

/** @param {string} text */
const quoted = (text) => text.replace(/[&"<>]/g, (sign) => SIGNS[sign]);

/**
 * @param {Shared} shared
 * @param {HTMLElement} panel
 */
export async function embed(shared, panel) {
  const framed = (await shared.path()).replace(/^\/s\//, "/e/");
  const link = shared.link(framed);
  const address = () => {
    const url = new URL(link, location.origin);
    url.searchParams.delete("present");
    if (views.value) url.searchParams.set("view", views.value);
    if (lock.checked) url.searchParams.set("lock", "1");
    return url.href.replaceAll("%2F", "/").replaceAll("%3A", ":");
  };
  const code = () =>
    `<iframe src="${quoted(address())}" title="${quoted(shared.title || "podstep")}" width="100%"`
    + ` height="${heights.value}" loading="lazy" frameborder="0"></iframe>`;
  const write = () => {
    field.value = code();
    look.href = address();
  };
  const heights = h(
    "select",
    {
      class: "field share-select",
      "aria-label": "Height",
      onchange: () => write(),
    },
    HEIGHTS.map((value) =>
      h("option", { value, text: `${value} pixels`, selected: value === HEIGHTS[1] || undefined }),
    ),
  );
  const views = h(
    "select",
    { class: "field share-select", "aria-label": "Shows", onchange: () => write() },
    VIEWS.map(([value, text]) => h("option", { value, text })),
  );
  const lock = h("input", { type: "checkbox", onchange: () => write() });
  const look = h("a", { target: "_blank", rel: "noopener", text: "See how it looks" });
  const { field, row } = copyRow("Embed code", "");
  write();
  fill(
    panel,
    dim("The same view inside your own page, without the menus around it. Readers can step through it there."),
    row,
    named("Shows", views),
    h("label", { class: "share-check" }, lock, "Lock the step: readers cannot leave it"),
    named("Height", heights),
    dim("A frame sends its height to the page around it; the documentation of the protocol has the script."),
    h("p", null, look),
  );
}
