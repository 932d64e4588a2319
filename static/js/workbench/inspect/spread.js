// Pods by domain: what PodTopologySpread counted for each hard constraint, and which domains are full.

import { h } from "../../lib/dom.js";
import { count, ellipsis, plural } from "../../lib/quantity.js";
/** @import { SpreadCounts } from "../../lib/protocol.js" */

const NAME = 18; // characters of a domain that fit beside its bar
const POLICIES = ["nodeAffinityPolicy", "nodeTaintsPolicy"];
const USUAL = ["Honor", "Ignore"];

/**
 * The constraints as bars, a row a domain; null if there are none.
 *
 * @param {SpreadCounts[] | undefined} constraints
 */
export function spreadSection(constraints) {
  if (!constraints?.length) return null;
  return h(
    "section",
    { class: "spread" },
    h("h3", null, "Pods by domain ", h("small", { class: "dim", text: "PodTopologySpread" })),
    constraints.map((one) => [
      h("p", null, h("b", { class: "mono", text: one.key }), " ", h("span", { class: "dim", text: terms(one) })),
      domains(one),
      h("p", { class: "dim fine", text: rule(one) }),
    ]),
  );
}

/** @param {SpreadCounts} one */
function terms({ maxSkew, minDomains, policies, number, refused }) {
  const other = POLICIES.map((name, i) => (policies[i] === USUAL[i] ? "" : `${name} ${policies[i]}`));
  const full = `${count(refused)} of ${plural(number, "domain")} full`;
  const all = [`maxSkew ${maxSkew}`, minDomains > 1 ? `minDomains ${minDomains}` : "", ...other, full];
  return all.filter(Boolean).join(" · ");
}

/** @param {SpreadCounts} one */
function rule({ least, maxSkew, itself, minDomains, number, policies }) {
  const room = `A domain may have ${count(least + maxSkew)}${itself ? " with this pod" : "; this pod does not count"}`;
  const fewest = number < minDomains ? `0, as there are fewer than ${minDomains} domains` : count(least);
  const tainted = policies[1] === "Ignore" ? " Tainted nodes make domains, too." : "";
  return `${room}: the fewest of a domain is ${fewest}, and maxSkew allows ${plural(maxSkew, "pod")} more.${tainted}`;
}

/**
 * The part of each value that distinguishes them: what all end with, from a dot on, is left out where it is too long.
 *
 * @param {string[]} values
 */
function shortened(values) {
  const [first = ""] = values;
  const dots = values.length < 2 ? [] : [...first].flatMap((letter, at) => (letter === "." ? [at] : []));
  const ending = dots.map((at) => first.slice(at)).find((text) => values.every((value) => value.endsWith(text))) ?? "";
  return (/** @type {string} */ value) =>
    value.length > NAME ? ellipsis(value.slice(0, value.length - ending.length), NAME) : value;
}

/**
 * A domain's name; cut, screen readers have it whole.
 *
 * @param {string} value
 * @param {string} cut
 */
function named(value, cut) {
  return cut === value
    ? value
    : [h("span", { "aria-hidden": "true", text: cut }), h("span", { class: "sr", text: value })];
}

/** @param {SpreadCounts} one */
function domains({ domains: shown, number, least, maxSkew, itself }) {
  const own = itself ? 1 : 0;
  const short = shortened(shown.map(([value]) => value));
  const limit = least + maxSkew;
  const most = Math.max(limit, ...shown.map(([, pods]) => pods + own), 1);
  const part = (/** @type {number} */ n) => `${(100 * n) / most}%`;
  return h(
    "ul",
    { class: "spread-domains" },
    shown.map(([value, pods, refused]) =>
      h(
        "li",
        { class: refused ? "refused" : undefined },
        h("span", { class: "mono", title: value }, named(value, short(value))),
        h(
          "span",
          { class: "spread-bar", "aria-hidden": "true" },
          h("i", { class: "there", style: { width: part(pods) } }),
          h("i", { class: refused ? "own refused" : "own", style: { width: part(own) } }),
          h("i", { class: "limit", style: { left: part(limit) } }),
        ),
        h(
          "span",
          { class: "num" },
          `${count(pods)}${own ? " + 1" : ""} `,
          refused
            ? h("b", { text: `skew ${count(pods + own - least)} > ${maxSkew}` })
            : h("span", { class: "dim", text: `skew ${count(pods + own - least)}` }),
        ),
      ),
    ),
    number > shown.length
      ? h("li", { class: "dim", text: `and ${plural(number - shown.length, "more domain")} with as many or more` })
      : null,
  );
}
