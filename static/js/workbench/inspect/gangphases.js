// The phases of a PodGroup as a diagram: which it has been in since when and by what rule, and what leads out.

import { h } from "../../lib/dom.js";
import { inline } from "../../lib/inline.js";
import { count } from "../../lib/quantity.js";
/** @import { Playback } from "../playback.js" */
/** @import { View } from "../view.js" */

const ALONE = "Failed"; // the phase that is no step of a good life
const NEW = ""; // before the controller has seen it

/**
 * What happened to a group's phase up to the shown cycle: `{phase: [cycle, rule]}` of each one's last time.
 *
 * @param {Playback} playback
 */
function history(playback, part, key) {
  const reached = new Map();
  let from = NEW;
  for (const [index, phase] of playback.marks.phases(key, playback.asOf)) {
    const rule = part.ways.find(([start, end]) => start === from && end === phase)?.[2] ?? "";
    reached.set(phase, [index, rule]);
    from = phase;
  }
  return reached;
}

/** A rule with the group's numbers in the place of its letters, "" if it has none. */
function numbers(rule, { memberCount, minMember, counters }) {
  if (!/[≥<>]/.test(rule)) return "";
  const values = {
    n: memberCount,
    m: minMember,
    minMember,
    r: counters.running ?? 0,
    s: counters.succeeded ?? 0,
    f: counters.failed ?? 0,
    scheduled: counters.scheduled ?? 0,
  };
  return rule
    .replace(/^.*?: /, "")
    .replace(/^phase \w+ and /, "")
    .replace(/\b(?:minMember|scheduled|[nrsfm])\b/g, (name) => String(values[name]));
}

/**
 * Draw it; `kept.ways` holds whether what leads out is open, over redrawing.
 *
 * @param {View} view
 */
export function phases(view, part, group, kept) {
  if (group.phase === null) return null;
  const { playback } = view;
  const reached = history(playback, part, group.key);
  const lit = group.phase;
  const [since, rule] = reached.get(lit) ?? [0, ""];
  const known = part.phases.includes(lit) ? part.phases : [lit, ...part.phases];
  const shown = known.filter((phase) => phase !== NEW || lit === NEW);
  const cycle = (/** @type {number} */ index, /** @type {string} */ phase) =>
    inline(
      (event) => playback.goto(index, event.timeStamp),
      {
        class: "link num",
        title: `cycle ${index}: when it last became ${phase}`,
        "aria-label": `became ${phase} around cycle ${index}`,
      },
      count(index),
    );
  const ways = part.ways.filter(([from]) => from === lit);
  return h(
    "figure",
    { class: "phase-diagram" },
    h(
      "figcaption",
      null,
      h("b", { text: lit || "No phase yet" }),
      since ? [" since cycle ", cycle(since, lit), rule ? [", for ", h("code", { text: rule })] : null] : null,
      group.phaseBefore !== null && group.phaseBefore !== lit
        ? h("span", { class: "dim", text: ` · ${group.phaseBefore || "none"} before this cycle` })
        : null,
    ),
    h(
      "ol",
      { "aria-label": "Phases of a PodGroup" },
      shown.map((phase) => {
        const at = reached.get(phase);
        return h(
          "li",
          {
            class: `${phase === lit ? "lit" : at ? "was" : ""}${phase === ALONE ? " alone" : ""}`,
            "aria-current": phase === lit ? "step" : undefined,
            title: at?.[1] ? `for ${at[1]}` : undefined,
          },
          h("b", null, phase === ALONE ? h("small", { text: "or " }) : null, phase || "(new)"),
          at ? cycle(at[0], phase) : null,
        );
      }),
    ),
    part.final.includes(lit)
      ? h("p", { class: "dim fine", text: `${lit} is final: the controller no longer reconciles the group.` })
      : ways.length
        ? h(
            "details",
            {
              class: "phase-ways",
              open: kept.ways || undefined,
              ontoggle: (event) => {
                kept.ways = event.target.open;
              },
            },
            h("summary", null, `Transitions from ${lit || "here"}`),
            h(
              "ul",
              null,
              ways.map(([, to, when]) => {
                const now = numbers(when, group);
                return h(
                  "li",
                  null,
                  "→ ",
                  h("b", { text: to }),
                  " for ",
                  h("code", { text: when }),
                  now ? h("span", { class: "num dim", text: ` now ${now}` }) : null,
                );
              }),
            ),
            all(part),
          )
        : h("p", {
            class: "dim fine",
            text: `The controller's table has no transition from ${lit}; its rules for other phases apply.`,
          }),
  );
}

const all = (part) =>
  h("a", {
    class: "fine dim ref",
    href: `/reference/podgroups/#${part.edition}`,
    text: `All rules of the ${part.edition} edition`,
  });
