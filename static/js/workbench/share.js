// Share: an immutable scenario and a link to exactly what is on screen.

import { h, icon, copy, dialog, fill } from "../lib/dom.js";
/** @import { Address } from "./address.js" */
/** @import { Build } from "./build.js" */
/** @import { Playback } from "./playback.js" */
/** @import { View } from "./view.js" */

/**
 * @param {string} label
 * @param {string} text
 * @param {string} [look]
 */
const copyRow = (label, text, look = "primary") => {
  const field = h("input", {
    class: "field",
    readonly: true,
    value: text,
    "aria-label": label,
    onfocus: () => field.select(),
  });
  const button = h(
    "button",
    {
      type: "button",
      class: `btn ${look}`,
      onclick: async () => {
        fill(button, icon((await copy(text)) ? "check" : "warn"), "Copied");
      },
    },
    icon("copy"),
    "Copy",
  );
  return { field, row: h("div", { class: "copy-row" }, field, button) };
};

/**
 * Open the dialog. `build.settle` applies pending edits first; `address` writes the link.
 *
 * @param {{ playback: Playback, view: View, address: Address, build: Build, mine: boolean }} workbench
 */
export async function share({ playback, view, address, build, mine }) {
  const origin = location.origin;
  if (!mine) {
    const { field, row } = copyRow("Link to this view", origin + address.link());
    dialog(
      "Share this view",
      h("p", {
        text:
          "Anyone who opens this link sees the same cluster at the same step, with the same tab, selection and "
          + "filters.",
      }),
      row,
    );
    field.focus();
    return;
  }
  if (!(await build.settle())) return;
  const status = h("p", { class: "dim", text: "Creating an immutable copy…", role: "status" });
  const box = dialog("Share this scenario", status);
  try {
    const answer = await playback.socket.call("draft.share", {
      draft: playback.source.draft,
      base: playback.source.revision,
      step: playback.wanted > playback.cycles ? "end" : String(playback.wanted),
      tab: view.tab,
    });
    const path = new URL(answer.url, origin).pathname;
    const { field, row } = copyRow("Link to this view", origin + address.link(path));
    const body = box.querySelector(".dialog-body");
    fill(
      body,
      h("p", {
        text:
          "Anyone who opens this link sees this cluster at this step. "
          + "It never changes; your draft remains private.",
      }),
      row,
    );
    if (answer.deleteToken) {
      body.append(
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
          copyRow("Delete token", answer.deleteToken, "quiet").row,
        ),
      );
    }
    field.focus();
  } catch (error) {
    fill(
      box.querySelector(".dialog-body"),
      h("p", { class: "note error", text: `It could not be shared: ${error.message}` }),
    );
  }
}
