// The phases of a PodGroup as a diagram: which it has been in since when and by what rule, and what leads out.

import { Inline } from "../../kit/inline.tsx";
import type { GroupRecord, PodGroupsPart } from "../../lib/protocol.js";
import { count } from "../../lib/quantity.ts";
import type { Playback } from "../playback/playback.ts";
import type { View } from "../view/view.ts";

const ALONE = "Failed"; // the phase that is no step of a good life
const NEW = ""; // before the controller has seen it

/** When a group was last in each phase, up to the shown cycle, and by which rule. */
function history(playback: Playback, part: PodGroupsPart, key: string) {
  const reached = new Map<string, [cycle: number, rule: string]>();
  let from = NEW;
  for (const [index, phase] of playback.marks.phases(key, playback.asOf)) {
    reached.set(phase, [index, part.ways.find(([start, end]) => start === from && end === phase)?.[2] ?? ""]);
    from = phase;
  }
  return reached;
}

/** A rule with the group's numbers in the place of its letters, "" if it has none. */
function numbers(rule: string, { memberCount, minMember, counters }: GroupRecord) {
  if (!/[≥<>]/.test(rule)) return "";
  const values: Record<string, number | null> = {
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

type PhasesProps = { view: View; part: PodGroupsPart; group: GroupRecord };

export function Phases({ view: { playback }, part, group }: PhasesProps) {
  const { phase: lit, phaseBefore: before } = group;
  if (lit === null) return null;
  const reached = history(playback, part, group.key);
  const [since, rule] = reached.get(lit) ?? [0, ""];
  const known = part.phases.includes(lit) ? part.phases : [lit, ...part.phases];
  const cycle = (index: number, phase: string) => (
    <Inline
      act={(event) => playback.goto(index, event.timeStamp)}
      class="link num"
      title={`cycle ${index}: when it last became ${phase}`}
      aria-label={`became ${phase} around cycle ${index}`}
    >
      {count(index)}
    </Inline>
  );
  return (
    <figure class="phase-diagram">
      <figcaption>
        <b>{lit || "No phase yet"}</b>
        {since ? [" since cycle ", cycle(since, lit), rule ? [", for ", <code>{rule}</code>] : null] : null}
        {before !== null && before !== lit ? (
          <span class="dim">{` · ${before || "none"} before this cycle`}</span>
        ) : null}
      </figcaption>
      <ol aria-label="Phases of a PodGroup">
        {known
          .filter((phase) => phase !== NEW || lit === NEW)
          .map((phase) => {
            const at = reached.get(phase);
            return (
              <li
                key={phase}
                class={`${phase === lit ? "lit" : at ? "was" : ""}${phase === ALONE ? " alone" : ""}`}
                aria-current={phase === lit ? "step" : undefined}
                title={at?.[1] ? `for ${at[1]}` : undefined}
              >
                <b>
                  {phase === ALONE ? <small>or </small> : null}
                  {phase || "(new)"}
                </b>
                {at ? cycle(at[0], phase) : null}
              </li>
            );
          })}
      </ol>
      <Ways part={part} group={group} lit={lit} />
    </figure>
  );
}

/** What leads out of the lit phase; it stays open while other groups and cycles are shown. */
function Ways({ part, group, lit }: Omit<PhasesProps, "view"> & { lit: string }) {
  const ways = part.ways.filter(([from]) => from === lit);
  if (part.final.includes(lit))
    return <p class="dim fine">{`${lit} is final: the controller no longer reconciles the group.`}</p>;
  if (!ways.length)
    return (
      <p class="dim fine">The controller's table has no transition from {lit}; its rules for other phases apply.</p>
    );
  return (
    <details class="phase-ways">
      <summary>{`Transitions from ${lit || "here"}`}</summary>
      <ul>
        {ways.map(([, to, when]) => {
          const now = numbers(when, group);
          return (
            <li>
              → <b>{to}</b> for <code>{when}</code>
              {now ? <span class="num dim">{` now ${now}`}</span> : null}
            </li>
          );
        })}
      </ul>
      <a class="fine dim ref" href={`/reference/podgroups/#${part.edition}`}>
        {`All rules of the ${part.edition} edition`}
      </a>
    </details>
  );
}
