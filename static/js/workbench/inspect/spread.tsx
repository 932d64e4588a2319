// Pods by domain: what PodTopologySpread counted for each hard constraint, and which domains are full.

import type { SpreadCounts } from "../../lib/protocol.js";
import { count, ellipsis, plural } from "../../lib/quantity.ts";

const NAME = 18; // characters of a domain that fit beside its bar
const POLICIES = ["nodeAffinityPolicy", "nodeTaintsPolicy"];
const USUAL = ["Honor", "Ignore"];

/** The constraints as bars, a row a domain; nothing if there are none. */
export const Spread = ({ constraints }: { constraints: SpreadCounts[] | undefined }) =>
  constraints?.length ? (
    <section class="spread">
      <h3>
        Pods by domain <small class="dim">PodTopologySpread</small>
      </h3>
      {constraints.map((one) => (
        <>
          <p>
            <b class="mono">{one.key}</b> <span class="dim">{terms(one)}</span>
          </p>
          <Domains one={one} />
          <p class="dim fine">{rule(one)}</p>
        </>
      ))}
    </section>
  ) : null;

function terms({ maxSkew, minDomains, policies, number, refused }: SpreadCounts) {
  const other = POLICIES.map((name, i) => (policies[i] === USUAL[i] ? "" : `${name} ${policies[i]}`));
  const full = `${count(refused)} of ${plural(number, "domain")} full`;
  const all = [`maxSkew ${maxSkew}`, minDomains > 1 ? `minDomains ${minDomains}` : "", ...other, full];
  return all.filter(Boolean).join(" · ");
}

function rule({ least, maxSkew, itself, minDomains, number, policies }: SpreadCounts) {
  const room = `A domain may have ${count(least + maxSkew)}${itself ? " with this pod" : "; this pod does not count"}`;
  const fewest = number < minDomains ? `0, as there are fewer than ${minDomains} domains` : count(least);
  const tainted = policies[1] === "Ignore" ? " Tainted nodes make domains, too." : "";
  return `${room}: the fewest of a domain is ${fewest}, and maxSkew allows ${plural(maxSkew, "pod")} more.${tainted}`;
}

/** The part of each value that distinguishes them: where it is too long, without what all end with, from a dot on. */
function shortened(values: string[]) {
  const [first = ""] = values;
  const dots = values.length < 2 ? [] : [...first].flatMap((letter, at) => (letter === "." ? [at] : []));
  const ending = dots.map((at) => first.slice(at)).find((text) => values.every((value) => value.endsWith(text))) ?? "";
  return (value: string) =>
    value.length > NAME ? ellipsis(value.slice(0, value.length - ending.length), NAME) : value;
}

/** A domain's name; cut, screen readers have it whole. */
const named = (value: string, cut: string) =>
  cut === value ? (
    value
  ) : (
    <>
      <span aria-hidden="true">{cut}</span>
      <span class="sr">{value}</span>
    </>
  );

function Domains({ one: { domains, number, least, maxSkew, itself } }: { one: SpreadCounts }) {
  const own = itself ? 1 : 0;
  const short = shortened(domains.map(([value]) => value));
  const limit = least + maxSkew;
  const most = Math.max(limit, ...domains.map(([, pods]) => pods + own), 1);
  const part = (n: number) => `${(100 * n) / most}%`;
  return (
    <ul class="spread-domains">
      {domains.map(([value, pods, refused]) => {
        const skew = `skew ${count(pods + own - least)}`;
        return (
          <li class={refused ? "refused" : undefined}>
            <span class="mono" title={value}>
              {named(value, short(value))}
            </span>
            <span class="spread-bar" aria-hidden="true">
              <i class="there" style={{ width: part(pods) }} />
              <i class={refused ? "own refused" : "own"} style={{ width: part(own) }} />
              <i class="limit" style={{ left: part(limit) }} />
            </span>
            <span class="num">
              {`${count(pods)}${own ? " + 1" : ""} `}
              {refused ? <b>{`${skew} > ${maxSkew}`}</b> : <span class="dim">{skew}</span>}
            </span>
          </li>
        );
      })}
      {number > domains.length ? (
        <li class="dim">{`and ${plural(number - domains.length, "more domain")} with as many or more`}</li>
      ) : null}
    </ul>
  );
}
