// Who has what: a queue's bars of what it deserves, has and asks for, and the rounds of proportion as divided bars.

import { h } from "../../../lib/dom.js";
import { amount, count, trim } from "../../../lib/quantity.js";
/** @import { SessionAmounts, SessionPart, SessionShares } from "../../../lib/protocol.js" */

/**
 * An amount in a session's units: scalars are counted in thousandths.
 *
 * @param {string} resource
 * @param {number} value
 */
export const held = (resource, value) =>
  resource === "cpu"
    ? trim(value / 1000)
    : resource === "memory"
      ? amount("memory", Math.round(value))
      : trim(value / 1000);

/**
 * A share in a cell, with the resource that decides it.
 *
 * @param {number} share
 * @param {string} dominant
 */
export const part = (share, dominant) =>
  h("span", { title: dominant ? `of ${dominant}` : undefined, text: trim(share) });

/** @param {SessionAmounts[]} amounts */
function resourcesOf(amounts) {
  const names = [...new Set(amounts.flatMap((one) => Object.keys(one)))];
  return names.filter((name) => amounts.some((one) => (one[name] ?? 0) > 0));
}

const percent = (/** @type {number} */ value, /** @type {number} */ whole) =>
  `${Math.min(100, whole ? (100 * value) / whole : 0).toFixed(2)}%`;

/**
 * The queues as of a step: for each resource a bar of what it has, with marks at what it deserves and asks for.
 *
 * @param {SessionPart} session
 * @param {SessionShares} shares
 * @param {string} as
 */
export function queues(session, shares, as) {
  if (!session.queues.length) return null;
  const names = resourcesOf(
    session.queues.flatMap(({ deserved, request, allocated }) => [deserved, request, ...allocated]),
  );
  /** @type {Record<string, number>} */
  const most = {};
  for (const name of names)
    most[name] = Math.max(
      ...session.queues.flatMap(({ deserved, request, allocated }) =>
        [deserved, request, ...allocated].map((one) => one[name] ?? 0),
      ),
    );
  return h(
    "section",
    { class: "session-queues" },
    h("h4", null, "Queues ", h("small", { class: "dim", text: as })),
    h(
      "p",
      { class: "share-legend dim fine" },
      h("span", null, h("i", { class: "key has" }), "allocated"),
      h("span", null, h("i", { class: "key deserves" }), "deserved"),
      h("span", null, h("i", { class: "key asks" }), "requested"),
    ),
    h(
      "table",
      { class: "share-table" },
      h("caption", { class: "sr", text: `Queues: allocated, deserved and requested, ${as}` }),
      h(
        "thead",
        { class: "sr" },
        h(
          "tr",
          null,
          ["resource", "bar", "allocated / deserved / requested"].map((text) => h("th", { scope: "col", text })),
        ),
      ),
      session.queues.map(({ queue, deserved, request, allocated, share }) => {
        const [has, now] = shares.queues[queue] ?? [allocated[0], share[0]];
        return h(
          "tbody",
          { "data-queue": queue },
          h(
            "tr",
            null,
            h(
              "th",
              { scope: "rowgroup", colspan: 3 },
              h("b", { text: queue }),
              h("span", {
                class: "dim num",
                title: "the highest part of any resource that it deserves",
                text: ` share ${trim(now)}`,
              }),
            ),
          ),
          names.map((name) => {
            const [a, d, r] = [has, deserved, request].map((one) => one[name] ?? 0);
            return h(
              "tr",
              { "data-resource": name },
              h("td", { class: "dim", text: name }),
              h(
                "td",
                { class: "share-cell" },
                h(
                  "span",
                  { class: "share-bar", "aria-hidden": "true" },
                  h("i", { class: "asks", style: { width: percent(r, most[name]) } }),
                  h("i", { class: "has", style: { width: percent(a, most[name]) } }),
                  h("i", { class: "deserves", style: { left: percent(d, most[name]) } }),
                ),
              ),
              h("td", { class: "num" }, h("b", { text: held(name, a) }), ` / ${held(name, d)} / ${held(name, r)}`),
            );
          }),
        );
      }),
    ),
    session.queueCount > session.queues.length
      ? h("p", { class: "dim fine", text: `and ${count(session.queueCount - session.queues.length)} more` })
      : null,
  );
}

/**
 * The rounds of proportion, one by one: what each queue deserves after it, and what remains.
 *
 * @param {SessionPart} session
 */
export function rounds(session) {
  if (!session.rounds.length) return null;
  const whole = session.rounds[0].before;
  const names = resourcesOf([whole]);
  const tone = new Map(session.rounds[0].queues.map(([name], i) => [name, `g${i % 10}`]));
  const deserved = new Map(session.rounds[0].queues.map(([name]) => [name, /** @type {SessionAmounts} */ ({})]));
  return h(
    "details",
    { class: "session-rounds", open: session.rounds.length < 6 || undefined },
    h(
      "summary",
      null,
      h("b", { text: "Rounds of proportion " }),
      h("small", { class: "dim num", text: count(session.roundCount) }),
    ),
    h(
      "ol",
      null,
      session.rounds.map((round) => {
        for (const [name, , now] of round.queues) deserved.set(name, now);
        const done = round.queues.filter(([, , , satisfied]) => satisfied).map(([name]) => name);
        return h(
          "li",
          null,
          h(
            "p",
            { class: "fine" },
            h("b", { text: `Round ${round.number}` }),
            ` divides ${names.map((name) => `${name} ${held(name, round.before[name] ?? 0)}`).join(", ")} by weight: `,
            round.queues.map(([name, weight], i) => `${i ? ", " : ""}${name} ${weight}/${round.weights}`).join(""),
            done.length
              ? `. ${done.join(", ")} ${done.length === 1 ? "asks" : "ask"} for less, and takes no part in the next.`
              : ".",
          ),
          names.map((name) =>
            h(
              "div",
              { class: "round-bar" },
              h("span", { class: "dim", text: name }),
              h(
                "span",
                {
                  class: "round-parts",
                  role: "img",
                  "aria-label": [...deserved].map(([queue, of]) => `${queue} ${held(name, of[name] ?? 0)}`).join(", "),
                },
                [...deserved].map(([queue, of]) =>
                  h(
                    "i",
                    {
                      class: tone.get(queue),
                      style: { width: percent(of[name] ?? 0, whole[name]) },
                      title: `${queue}: ${held(name, of[name] ?? 0)}`,
                    },
                    (of[name] ?? 0) * 5 > whole[name] ? `${queue} ${held(name, of[name] ?? 0)}` : "",
                  ),
                ),
              ),
            ),
          ),
        );
      }),
    ),
    session.roundCount > session.rounds.length
      ? h("p", { class: "dim fine", text: `and ${count(session.roundCount - session.rounds.length)} more` })
      : null,
  );
}
