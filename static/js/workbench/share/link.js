// Share, "Link": to exactly what is on screen, as an address, as Markdown and as a QR code.

import { h, fill } from "../../lib/dom.js";
import { qrCode } from "../../lib/qr.js";
import { copyRow, dim, named } from "./common.js";
/** @import { Shared } from "./common.js" */

const BRACKETS = /[\\[\]]/g;

/**
 * @param {Shared} shared
 * @param {HTMLElement} panel
 */
export async function link(shared, panel) {
  fill(panel, h("p", { class: "dim", text: "Creating an immutable copy…", role: "status" }));
  const address = location.origin + shared.link(await shared.path());
  const { field, row } = copyRow("Link to this view", address);
  const step = shared.playback.wanted;
  const words = `${shared.title || "A cluster"}${step > 0 ? `, step ${step}` : ""}`;
  const code = h("div", { class: "share-code" });
  fill(
    panel,
    dim(
      "Anyone who opens this link sees the same cluster at the same step, with the same tab, selection and filters. "
        + "It never changes.",
    ),
    row,
    h(
      "div",
      { class: "share-split" },
      h(
        "div",
        { class: "share-rows" },
        named(
          "For a pull request",
          copyRow("Markdown", `[${words.replace(BRACKETS, "\\$&")}](${address})`, "quiet").row,
        ),
        shared.token() ? takeDown(shared.token()) : null,
      ),
      code,
    ),
  );
  field.focus();
  const qr = qrCode(address, "QR code of the link to this view");
  fill(code, qr ?? dim("The address of this view is too long for a QR code."));
}

/** @param {string} token */
const takeDown = (token) =>
  h(
    "details",
    { class: "token" },
    h("summary", { text: "Take this link down later" }),
    h("p", {
      class: "dim",
      text:
        "With this delete token the link can be taken down through the API. "
        + "It is shown only now: keep it if you may need it.",
    }),
    copyRow("Delete token", token, "quiet").row,
  );
