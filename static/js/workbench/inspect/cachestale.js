// Stale hits of a cycle: what the cache answered, what is true, and the event that should have cleared the entry.

import { h, icon, toast } from "../../lib/dom.js";
import { count, plural } from "../../lib/quantity.js";
import { tabled } from "../../lib/tables.js";
import { answer, because, cycleLink, lighting, nodeLink } from "./cachewords.js";
import { aboutNode, linked } from "./byhand.js";
/** @import { StaleHit } from "../../lib/protocol.js" */
/** @import { View } from "../view.js" */

const LISTED = 8; // nodes of a card

/** The section of stale hits, with the way to other cycles that have some. */
export function staleHits(view, part) {
  if (!part.audit) return unaudited(view);
  const here = part.counts.stale;
  const groups = grouped(part.stale);
  return h(
    "section",
    { class: `stale-hits ${here ? "some" : "none"}` },
    h(
      "div",
      { class: "stale-head" },
      h("h3", null, icon(here ? "warn" : "check"), here ? plural(here, "stale hit") : "No stale hit in this cycle"),
      h("span", { class: "grow" }),
      jumps(view),
    ),
    groups.length
      ? h(
          "ol",
          null,
          groups.map((group, i) => card(view, group, i, here > part.stale.length)),
        )
      : null,
    here > part.stale.length
      ? h("p", { class: "dim fine", text: `and ${count(here - part.stale.length)} more of this cycle` })
      : null,
    part.causes.length ? causes(part) : null,
  );
}

/**
 * Hits that are the same for several nodes are listed once, each node with the event that it missed.
 *
 * @param {StaleHit[]} hits
 */
function grouped(hits) {
  const groups = new Map();
  for (const { node, event, written, ...rest } of hits) {
    const key = JSON.stringify(rest);
    if (!groups.has(key)) groups.set(key, { ...rest, found: [] });
    groups.get(key).found.push({ node, event, written });
  }
  return [...groups.values()];
}

function card(view, hit, i, more) {
  const { found } = hit;
  const nodes = found.map(({ node }) => node);
  const { names } = view.playback.nodes;
  const listed = found.length > LISTED + 1 ? LISTED : found.length;
  const line = (term, ...what) => h("div", null, h("dt", { text: term }), h("dd", null, what));
  return h(
    "li",
    null,
    h(
      "p",
      { class: "stale-title" },
      h("b", { class: "mono", text: hit.predicate }),
      " on ",
      nodes.length === 1
        ? nodeLink(view, nodes[0])
        : h(
            "button",
            {
              type: "button",
              class: "link lights",
              title: "light up on the stage",
              ...lighting(view, nodes, `stale hits of ${hit.predicate}, ${i + 1}`),
            },
            `${plural(nodes.length, "node")}${more ? " or more" : ""}`,
          ),
    ),
    h(
      "dl",
      null,
      line("cached", answer(hit.cached)),
      line("true", answer(hit.true)),
      line(
        "cause",
        because(hit.cause.startsWith(`${hit.predicate}: `) ? hit.cause.slice(hit.predicate.length + 2) : hit.cause),
      ),
    ),
    tabled(
      h(
        "table",
        { class: "missed" },
        h("caption", { class: "sr", text: `The event that each node's entry of ${hit.predicate} missed` }),
        h(
          "thead",
          null,
          h(
            "tr",
            null,
            h("th", { scope: "col", text: "node" }),
            h("th", { scope: "col", text: "the event that it missed" }),
            h("th", { scope: "col", class: "num", text: "written" }),
          ),
        ),
        h(
          "tbody",
          null,
          found
            .slice(0, listed)
            .map(({ node, event, written }) =>
              h(
                "tr",
                aboutNode(view, node),
                h("th", { scope: "row" }, nodeLink(view, node, 60)),
                h(
                  "td",
                  null,
                  event
                    ? h("span", { class: "mono" }, linked(view, event.replace(` on ${names[node]}`, "")))
                    : h("span", { class: "dim", text: "none of the table" }),
                ),
                h("td", { class: "num" }, cycleLink(view, written)),
              ),
            ),
        ),
      ),
      {
        head: h("span", { class: "dim fine", text: "node by node" }),
        kept: view.lists.of("cache"),
        name: hit.predicate,
      },
    ),
    listed < found.length
      ? h("p", { class: "dim fine", text: `and ${plural(found.length - listed, "node")} more` })
      : null,
  );
}

/** @param {View} view */
function jumps(view) {
  const { playback } = view;
  const { marks, index } = playback;
  if (!marks.staleCycles && view.seen.last >= playback.cycles) return null;
  const jump = (/** @type {number} */ direction, /** @type {string} */ label, /** @type {string} */ name) => {
    const to = marks.seekStale(index, direction);
    return h(
      "button",
      {
        type: "button",
        class: "btn small",
        "data-stale": name,
        disabled: (!to && (direction < 0 || view.seen.last >= playback.cycles)) || undefined,
        "aria-label": `${label} stale hit${to && view.seen.knows(to) ? `, cycle ${to}` : ""}`,
        onclick: (event) => {
          if (to) playback.goto(to, event.timeStamp);
          else toast("No later cycle has a stale hit.");
        },
      },
      direction < 0 ? icon("left") : null,
      label,
      direction > 0 ? icon("right") : null,
    );
  };
  return h(
    "span",
    { class: "jumps", role: "group", "aria-label": "Cycles with stale hits" },
    jump(-1, "Previous", "left"),
    jump(1, "Next", "right"),
  );
}

function causes(part) {
  const rows = [...part.causes].sort((a, b) => b[1] - a[1]);
  return h(
    "div",
    { class: "causes" },
    h(
      "h4",
      null,
      "Causes over the run so far ",
      h("small", { class: "dim num", text: plural(part.totals.stale, "stale hit") }),
    ),
    h(
      "ul",
      null,
      rows.map(([cause, n]) =>
        h("li", null, h("b", { class: "num stale-text", text: count(n) }), h("span", null, because(cause))),
      ),
    ),
  );
}

/**
 * Without the audit nobody knows; on one's own draft it is one click away.
 *
 * @param {View} view
 */
function unaudited(view) {
  const { settings } = view;
  return h(
    "section",
    { class: "stale-hits unaudited" },
    h(
      "p",
      null,
      h("b", { text: "The audit is off. " }),
      h("span", {
        class: "dim",
        text:
          "With it, every hit is checked against a fresh evaluation, and stale ones are shown here with their "
          + "cause.",
      }),
    ),
    settings?.mine
      ? h(
          "button",
          {
            type: "button",
            class: "btn small",
            disabled: settings.dirty() || undefined,
            onclick: () => settings.change([["setting", "audit", "true"]], "The audit is on"),
          },
          "Switch the audit on",
        )
      : null,
  );
}
