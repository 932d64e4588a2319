// Share, "Embed": the code of a frame that shows the same view on another page.

import { h, fill } from "../../lib/dom.js";
import { copyRow, dim, named } from "./common.js";
/** @import { Shared } from "./common.js" */

const HEIGHTS = ["480", "640", "800"];
const SIGNS = { "&": "&amp;", '"': "&quot;", "<": "&lt;", ">": "&gt;" };

/** @param {string} text */
const quoted = (text) => text.replace(/[&"<>]/g, (sign) => SIGNS[sign]);

/**
 * @param {Shared} shared
 * @param {HTMLElement} panel
 */
export async function embed(shared, panel) {
  const framed = (await shared.path()).replace(/^\/s\//, "/e/");
  const address = location.origin + shared.link(framed);
  const code = (/** @type {string} */ height) =>
    `<iframe src="${quoted(address)}" title="${quoted(shared.title || "podstep")}" width="100%" height="${height}"`
    + ' loading="lazy"></iframe>';
  const { field, row } = copyRow("Embed code", code(HEIGHTS[1]));
  const heights = h(
    "select",
    {
      class: "field share-select",
      "aria-label": "Height",
      onchange: () => {
        field.value = code(heights.value);
      },
    },
    HEIGHTS.map((value) =>
      h("option", { value, text: `${value} pixels`, selected: value === HEIGHTS[1] || undefined }),
    ),
  );
  fill(
    panel,
    dim("The same view inside your own page, without the menus around it. Readers can step through it there."),
    row,
    named("Height", heights),
    h("p", null, h("a", { href: address, target: "_blank", rel: "noopener", text: "See how it looks" })),
  );
}
