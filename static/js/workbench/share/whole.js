// Share, "Self-contained": a link that holds the scenario itself, and a file of it.

import { h, fill } from "../../lib/dom.js";
import { count, plural } from "../../lib/quantity.js";
import { MOST, pack } from "../../lib/packed.js";
import { copyRow, dim, named } from "./common.js";
/** @import { Shared } from "./common.js" */

const SIGNS = /[^\w.-]+/g;

/**
 * @param {Shared} shared
 * @param {HTMLElement} panel
 */
export async function whole(shared, panel) {
  fill(panel, h("p", { class: "dim", text: "Packing…", role: "status" }));
  if (!(await shared.settle())) throw new Error("What is being edited has errors; correct them first.");
  const answer = await fetch(shared.bundleUrl);
  if (!answer.ok) throw new Error(`The server answered ${answer.status}.`);
  const text = await answer.text();
  const { title, playback } = shared;
  const held = { text, title, query: shared.query(), release: playback.release };
  const address = `${location.origin}/${await pack(held)}`;
  const fits = address.length <= MOST;
  const file = `${
    title
      .replace(SIGNS, "-")
      .replace(/^-+|-+$/g, "")
      .toLowerCase() || "scenario"
  }.yaml`;
  const { field, row } = copyRow("Self-contained link", fits ? address : "");
  fill(
    panel,
    fits
      ? [
          dim(
            "The link contains the whole scenario, so nothing is stored here and nothing expires. It opens as a new "
              + `draft. ${plural(address.length, "character")}.`,
          ),
          row,
        ]
      : dim(
          `This scenario is too large: its link would have ${count(address.length)} characters, more than the `
            + `${count(MOST)} that chats and mail programs preserve.`,
        ),
    named(
      "As a file",
      h("p", null, h("a", { class: "btn", href: shared.bundleUrl, download: file, text: `Download ${file}` })),
    ),
  );
  if (fits) field.focus();
}
