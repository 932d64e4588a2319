// A scenario in two modes of the cache: both runs in numbers, and the first cycle that ends differently with both
// decisions.

import { h, icon, toast } from "../../lib/dom.js";
import { count, plural } from "../../lib/quantity.js";
import { tabled } from "../../lib/tables.js";
import { answer, because, cycleLink, nodeLink, podLink, ruleLink } from "./cachebyhand.js";
import { looks } from "./worthwords.js";
/** @import { StaleHit } from "../../lib/protocol.js" */
/** @import { View } from "../view.js" */

const RESULTS = {
  scheduled: ["pass", "check", "scheduled"],
  unschedulable: ["fail", "cross", "unschedulable"],
  error: ["stale", "warn", "error"],
};
const VICTIMS = 6;
const STALE = 2; // stale hits shown in detail

/** What to show of an answer to `worth.other`; `chosen` are the settings that were asked about. */
export function parting(view, { here, there, differing, first }, chosen) {
  const names =
    here.cache === there.cache
      ? [`${here.cache}, as it is`, `${there.cache}, as chosen`]
      : [here, there].map(({ cache }) => looks(cache).label);
  return [
    h(
      "p",
      { class: "story worth-verdict" },
      first
        ? [
            h("strong", {
              text: `${differing ? plural(differing, "pod") : "No pod"} ${differing > 1 ? "end" : "ends"} elsewhere.`,
            }),
            " The first cycle with a different decision is ",
            cycleLink(view, first.index),
            ".",
          ]
        : [
            icon("check"),
            h("strong", { text: "All decisions are identical" }),
            " in both modes, and every pod is on the same node.",
          ],
    ),
    first ? decisions(view, first, names) : null,
    h(
      "div",
      { class: "worth-act" },
      first
        ? h(
            "button",
            { type: "button", class: "btn", onclick: (event) => view.playback.goto(first.index, event.timeStamp) },
            icon("step"),
            `Go to cycle ${count(first.index)}`,
          )
        : null,
      view.settings?.canFork ? copyButton(view, chosen, first) : null,
    ),
    numbers(here, there, names),
    causes([here, there], names),
  ];
}

function decisions(view, first, names) {
  const sides = [first.here, first.there];
  return h(
    "section",
    { class: "worth-first", "aria-label": `Cycle ${first.index} in both modes` },
    h(
      "div",
      { class: "worth-sides" },
      sides.map((side, i) => decision(view, side, names[i], i ? "the other mode" : "as it runs here")),
    ),
    h("p", { class: "worth-words", text: first.words }),
    sides.map((side, i) => (side?.stale.length ? believed(view, side.stale, names[i]) : null)),
  );
}

function decision(view, side, name, where) {
  const head = h("h4", null, name, " ", h("small", { class: "dim", text: where }));
  if (!side) return h("article", { class: "worth-side" }, head, h("p", { class: "dim", text: "This run was over." }));
  const [mark, sign, word] = RESULTS[side.result] ?? RESULTS.error;
  return h(
    "article",
    { class: "worth-side" },
    head,
    h("p", null, podLink(view, side.pod)),
    h(
      "p",
      null,
      h("span", { class: `pill ${mark}` }, icon(sign), word),
      side.node ? [" on ", node(view, side.node)] : null,
    ),
    side.nominated
      ? h(
          "p",
          null,
          side.victims.length ? "preempts " : "is nominated without a victim",
          side.victims.slice(0, VICTIMS).map((key, i) => [i ? ", " : "", podLink(view, key)]),
          side.victims.length > VICTIMS ? ` and ${count(side.victims.length - VICTIMS)} more` : "",
          " on ",
          node(view, side.nominated),
        )
      : null,
    side.message ? h("p", { class: "dim fine", text: side.message }) : null,
  );
}

/**
 * A node by its name, as a link where it is known.
 *
 * @param {View} view
 * @param {string} name
 */
function node(view, name) {
  const at = view.playback.nodes.names.indexOf(name);
  return at < 0 ? name : nodeLink(view, at);
}

/**
 * The stale hits of one side in that cycle, those on the nodes in question first.
 *
 * @param {View} view
 * @param {(Omit<StaleHit, "node"> & { node: string })[]} hits
 * @param {string} name
 */
function believed(view, hits, name) {
  const line = (term, ...what) => h("div", null, h("dt", { text: term }), h("dd", null, what));
  return h(
    "section",
    { class: "stale-hits some" },
    h("h4", null, icon("warn"), `Stale in this cycle under ${name}`),
    h(
      "ol",
      null,
      hits
        .slice(0, STALE)
        .map((hit) =>
          h(
            "li",
            null,
            h(
              "p",
              { class: "stale-title" },
              h("b", { class: "mono", text: hit.predicate }),
              " on ",
              node(view, hit.node),
            ),
            h(
              "dl",
              null,
              line("cached", answer(hit.cached)),
              line("true", answer(hit.true)),
              line("written", "in cycle ", cycleLink(view, hit.written)),
              hit.event
                ? line(
                    "missed",
                    h("span", { class: "mono", text: hit.event }),
                    hit.rule ? [" (row ", ruleLink(hit.rule), ")"] : null,
                  )
                : null,
            ),
          ),
        ),
    ),
  );
}

function numbers(here, there, names) {
  const audited = (side) => (side.audit ? count(side.stale) : "–");
  /** @type {[label: string, text: (side: any) => string][]} */
  const rows = [
    ["cycles", (side) => count(side.cycles)],
    ["placed", (side) => count(side.placed)],
    ["evaluations", (side) => count(side.evaluations)],
    ["hits", (side) => count(side.hits)],
    ["stale hits", audited],
  ];
  return tabled(
    h(
      "table",
      { class: "list tight worth-table" },
      h("caption", { class: "sr", text: "Both runs in numbers" }),
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          h("td"),
          names.map((text) => h("th", { scope: "col", class: "num", text })),
        ),
      ),
      h(
        "tbody",
        null,
        rows.map(([label, text]) =>
          h(
            "tr",
            null,
            h("th", { scope: "row", text: label }),
            [here, there].map((side) =>
              h("td", { class: `num ${label === "stale hits" && side.stale ? "stale-text" : ""}` }, text(side)),
            ),
          ),
        ),
      ),
    ),
    { sorts: false, head: h("h4", { text: "In numbers" }) },
  );
}

function causes(sides, names) {
  return sides.map((side, i) =>
    side.causes.length
      ? h(
          "div",
          { class: "causes" },
          h("h4", null, `Why answers were stale under ${names[i]}`),
          h(
            "ul",
            null,
            side.causes.map(([cause, n]) =>
              h("li", null, h("b", { class: "num stale-text", text: count(n) }), h("span", null, because(cause))),
            ),
          ),
        )
      : null,
  );
}

function copyButton(view, chosen, first) {
  const { playback } = view;
  const button = h(
    "button",
    {
      type: "button",
      class: "btn",
      onclick: async () => {
        button.disabled = true;
        try {
          const { url } = await playback.socket.call("worth.copy", {
            source: playback.source,
            ...chosen,
            audit: "true",
          });
          const query = new URLSearchParams({ ...(first ? { step: String(first.index) } : {}), tab: "cache" });
          location.assign(`${new URL(url, location.origin).pathname}?${query}`);
        } catch (error) {
          button.disabled = false;
          toast(`It could not be copied: ${error.message}`, { name: "warn", ms: 6000 });
        }
      },
    },
    icon("fork"),
    "Open in a copy with this mode",
  );
  return button;
}
