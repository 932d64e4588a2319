// Share: what is on screen as a link, a private link, a frame, or whole in a link, a panel each.

import { $, h, dialog, fill } from "../lib/dom.js";
import { refusalOf } from "../lib/socket.js";
import { exportDeck, exportView } from "./exporting.js";
import { embed } from "./share/embed.js";
import { link } from "./share/link.js";
import { privately } from "./share/private.js";
import { refused } from "./share/common.js";
import { tabs } from "./tabs.js";
import { whole } from "./share/whole.js";
/** @import { Address } from "./address.js" */
/** @import { Build } from "./build.js" */
/** @import { Playback } from "./playback.js" */
/** @import { Shared } from "./share/common.js" */
/** @import { View } from "./view.js" */

/** @typedef {{ playback: Playback, view: View, build: Build, mine: boolean }} Workbench */

/** @type {[key: string, label: string, panel: (shared: Shared, host: HTMLElement) => Promise<void>][]} */
const PANELS = [
  ["link", "Link", link],
  ["private", "Private", privately],
  ["embed", "Embed", embed],
  ["whole", "Self-contained", whole],
];

/**
 * The address on which a scenario is shared: of a room that of its scenario, of everything else the page's own; of a
 * draft an immutable copy is made.
 *
 * @param {Workbench} workbench
 */
export async function shareable({ playback, view, build, mine }) {
  if (!mine) {
    const { scenario } = playback.source;
    return { path: scenario ? `/s/${scenario}/` : location.pathname, token: "", scenario: scenario ?? "" };
  }
  if (!(await build.settle())) return null;
  const answer = await playback.socket.call("draft.share", {
    draft: playback.source.draft,
    base: playback.source.revision,
    step: playback.wanted > playback.cycles ? "end" : String(playback.wanted),
    tab: view.tab,
  });
  return {
    path: new URL(answer.url, location.origin).pathname,
    token: answer.deleteToken,
    scenario: answer.scenario,
  };
}

/**
 * Open the dialog. `build.settle` applies pending edits first; `address` writes the link.
 *
 * @param {Workbench & { address: Address, bundleUrl: string }} context
 */
export async function share(context) {
  const { playback, address, build, mine, bundleUrl } = context;
  if (mine && !(await build.settle())) return;
  let made = null;
  let token = "";
  /** @type {Shared} */
  const shared = {
    playback,
    title: (mine ? $("input[data-title]")?.value : "") || playback.title,
    bundleUrl,
    frames: !playback.source.run && !playback.source.link && !playback.source.side,
    path: async () => {
      made ??= shareable(context).catch((error) => {
        made = null;
        throw error;
      });
      const found = await made;
      if (!found) throw new Error("what is being edited has errors; correct them first.");
      token = found.token;
      return found.path;
    },
    token: () => token,
    link: (path) => address.link(path),
    query: () => new URL(address.link("/"), location.origin).search.slice(1),
    settle: () => (mine ? build.settle() : Promise.resolve(true)),
  };
  const strip = h("div", { class: "tabs", role: "tablist", "aria-label": "Ways to share" });
  const panel = h("div", { class: "share-panel", id: "share" });
  const box = dialog(
    "Share this view",
    strip,
    panel,
    files(context, () => box.close()),
  );
  box.classList.add("share-dialog");
  const offered = PANELS.filter(([key]) =>
    key === "embed" ? shared.frames : key !== "private" || !playback.source.link,
  );
  let turn = 0;
  const open = async (/** @type {string} */ key) => {
    const mineTurn = ++turn;
    list.select(key);
    const host = h("div", { class: "share-panel-body" });
    fill(panel, host);
    try {
      await offered.find(([name]) => name === key)[2](shared, host);
    } catch (error) {
      if (mineTurn === turn) fill(host, refused("It could not be shared", refusalOf(error)));
    }
  };
  const list = tabs(
    strip,
    offered.map(([key, label]) => [key, label]),
    panel,
    open,
  );
  await open("link");
}

/**
 * The way to the files that can be had of what is on screen.
 *
 * @param {Workbench} workbench
 * @param {() => void} leave
 */
function files({ playback, view }, leave) {
  /** @type {[label: string, open: () => void][]} */
  const kinds = [
    ["Picture…", () => exportView(playback, view.tab)],
    ["Slide deck…", () => exportDeck(playback)],
    ["Video or GIF…", async () => (await import("./film/dialog.js")).exportFilm(playback)],
  ];
  const button = (/** @type {string} */ text, /** @type {() => void} */ open) =>
    h("button", {
      type: "button",
      class: "btn",
      text,
      onclick: () => {
        leave();
        open();
      },
    });
  return h(
    "div",
    { class: "share-files", role: "group", "aria-label": "As a file" },
    h("span", { class: "dim", text: "As a file" }),
    kinds.map(([text, open]) => button(text, open)),
  );
}
