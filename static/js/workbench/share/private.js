// Share, "Private": links that nobody can guess, with a name and a date, and the list of one's own.

import { h, icon, copy, fill, toast } from "../../lib/dom.js";
import { plural } from "../../lib/quantity.js";
import { refusalOf } from "../../lib/socket.js";
import { dim, named, refused } from "./common.js";
/** @import { PrivateLink } from "../../lib/protocol.js" */
/** @import { Shared } from "./common.js" */

const LISTED = 50;
/** @type {[days: string, label: string][]} */
const DAYS = [
  ["", "when it is no longer opened"],
  ["1", "in a day"],
  ["7", "in a week"],
  ["30", "in 30 days"],
  ["365", "in a year"],
];

/** @param {string} date */
const day = (date) => new Date(date).toLocaleDateString(undefined, { dateStyle: "medium" });

/**
 * @param {Shared} shared
 * @param {HTMLElement} panel
 */
export async function privately(shared, panel) {
  const { socket } = shared.playback;
  const name = h("input", {
    class: "field",
    id: "private-name",
    maxlength: 120,
    autocomplete: "off",
    value: shared.title,
  });
  const days = h(
    "select",
    { class: "field", id: "private-days" },
    DAYS.map(([value, text]) => h("option", { value, text })),
  );
  const state = h("div", { role: "status" });
  const list = h("ul", { class: "private-links" });
  const show = async () => {
    const { links } = await socket.call("link.list", {});
    fill(
      list,
      links.slice(0, LISTED).map((one) => row(shared, one, show)),
      links.length > LISTED ? h("li", { class: "dim", text: `and ${links.length - LISTED} older ones` }) : null,
      links.length ? null : h("li", { class: "dim", text: "You have no private links yet." }),
    );
  };
  const form = h(
    "form",
    {
      class: "private-form",
      onsubmit: async (event) => {
        event.preventDefault();
        try {
          if (!(await shared.settle())) return;
          fill(state, dim("Computing its decisions…"));
          const made = await socket.call("link.create", {
            source: shared.playback.source,
            title: name.value.trim(),
            query: shared.query(),
            ...(days.value ? { days: Number(days.value) } : {}),
          });
          const copied = await copy(location.origin + made.url);
          fill(state, dim(copied ? "Created and copied to the clipboard." : "Created."));
          await show();
        } catch (error) {
          fill(state, refused("The link could not be created", refusalOf(error)));
        }
      },
    },
    h("div", null, h("label", { for: "private-name", text: "Name" }), name),
    h("div", null, h("label", { for: "private-days", text: "It expires" }), days),
    h("button", { class: "btn primary" }, icon("plus"), "Create a private link"),
  );
  fill(
    panel,
    dim(
      "Its address cannot be guessed and is listed only for you. It records today's decisions, and reports when a "
        + "later version decides differently.",
    ),
    form,
    state,
    named("Yours", list),
  );
  await show();
}

/**
 * A link of one's own, which can be copied, named and revoked.
 *
 * @param {Shared} shared
 * @param {PrivateLink} link
 * @param {() => Promise<void>} show
 */
function row({ playback: { socket } }, link, show) {
  const title = link.title || "Untitled";
  const act = (/** @type {() => Promise<unknown>} */ run) => async () => {
    try {
      await run();
    } catch (error) {
      toast(refusalOf(error).message, { name: "warn", ms: 6000 });
    }
  };
  const name = h("input", {
    class: "field",
    "aria-label": `Name of ${title}`,
    maxlength: 120,
    value: link.title,
    placeholder: "Untitled",
    onchange: act(() => socket.call("link.rename", { link: link.link, title: name.value })),
  });
  const until = `until ${day(link.expires)}`;
  const button = (/** @type {string} */ glyph, /** @type {string} */ label, /** @type {() => Promise<any>} */ run) =>
    h(
      "button",
      { type: "button", class: "btn quiet square", "aria-label": `${label} ${title}`, title: label, onclick: act(run) },
      icon(glyph),
    );
  const copying = button("copy", "Copy the link", async () => {
    const done = await copy(location.origin + link.url);
    fill(copying, icon(done ? "check" : "warn"));
  });
  const left = Math.max(0, Math.ceil((Date.parse(link.expires) - Date.now()) / 86_400_000));
  const revoke = button("close", "Revoke", async () => {
    if (revoke.dataset.sure) {
      await socket.call("link.revoke", { link: link.link });
      await show();
      return;
    }
    revoke.dataset.sure = "true";
    fill(revoke, "Revoke?");
    revoke.classList.replace("square", "danger");
  });
  return h(
    "li",
    null,
    name,
    h("a", { class: "mono", href: link.url, target: "_blank", rel: "noopener", text: `/l/${link.link}/` }),
    h("span", {
      class: "dim",
      title: `${plural(left, "day")}${link.fixed ? "" : ", counted again when it is opened"}`,
      text: until,
    }),
    h("span", { class: "private-acts" }, copying, revoke),
  );
}
