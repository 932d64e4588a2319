// How preemption chose among its candidates, and where it could not help.

import { Heading } from "../../../kit/heading.tsx";
import { Icon } from "../../../kit/icon.tsx";
import { Table } from "../../../kit/table.tsx";
import type { Criterion, Hopeless as Group, PreemptionPart } from "../../../lib/protocol.js";
import { count, plural } from "../../../lib/quantity.ts";
import type { View } from "../../view/view.ts";
import { nodeLink } from "../../view/nouns.tsx";

export const NAME = 18; // characters of a node's name that fit its column
const LINKED = 12; // nodes of a reason that are named at once
const NOT_STARTED = -(2 ** 62); // in place of a start time, where a victim has not started
/** Beside the value: what it is of. */
const VALUES: Record<string, (value: number) => string> = {
  "no-victims": (value) => (value ? "has victims" : "no victim"),
  "pdb-violations": (value) => plural(value, "violation"),
  "victim-count": (value) => plural(value, "victim"),
  // Microseconds since 1970, negated: the latest is the lowest. A pod that has not started is later than all.
  "start-time": (value) =>
    value <= NOT_STARTED ? "not started" : `since ${new Date(-value / 1000).toISOString().replace(".000Z", "Z")}`,
  name: () => "",
};

type PartProps = { view: View; part: PreemptionPart };

/** The criteria in turn, with the nodes that stay and those that are out. */
export const Criteria = ({ view, part }: PartProps) => (
  <section class="criteria">
    <Table
      rows={part.criteria.map((criterion, i) => (
        <tr class={criterion.decided ? "won" : undefined}>
          <th scope="row">
            <span class="num dim">{`${i + 1} `}</span>
            {criterion.text}
            {criterion.decided ? (
              <span class="pill accent">
                <Icon name="check" />
                decided
              </span>
            ) : null}
            {criterion.note ? <small class="dim fine">{criterion.note}</small> : null}
          </th>
          <td>
            <Race view={view} criterion={criterion} />
          </td>
        </tr>
      ))}
      heads={["criterion", "nodes still competing"]}
      caption="The criteria in turn, with the nodes that stay and those that are out"
      title={
        <h3>
          Criteria{" "}
          <small class="dim">
            in turn, until one node is left ·{" "}
            <a class="link" href="/reference/predicates/#preemption">
              reference
            </a>
          </small>
        </h3>
      }
      sorts={false}
    />
  </section>
);

function Race({ view, criterion }: { view: View; criterion: Criterion }) {
  const { id, stay, stayed, out, dropped } = criterion;
  const value = (amount: number) => {
    const text = (VALUES[id] ?? count)(amount);
    return text ? <small class="dim num">{` ${text}`}</small> : null;
  };
  // The best value is what all that stay have in common.
  return (
    <ul class="race">
      <li class="stays">
        <Icon name="check" />
        <span>
          <span class="sr">stays: </span>
          {stay.map(([node], i) => [i ? ", " : "", nodeLink(view, node, NAME)])}
          {stayed > stay.length ? ` and ${count(stayed - stay.length)} more` : null}
          {stay[0] ? value(stay[0][1]) : null}
        </span>
      </li>
      {out.map(([node, amount]) => (
        <li class="goes">
          <Icon name="cross" />
          <span>
            <span class="sr">out: </span>
            <s>{nodeLink(view, node, NAME)}</s>
            {value(amount)}
          </span>
        </li>
      ))}
      {dropped > out.length ? <li class="dim">{`and ${count(dropped - out.length)} more are out`}</li> : null}
    </ul>
  );
}

/** The nodes on which no deletion helps, by why. */
export const Hopeless = ({ view, part }: PartProps) => (
  <section class="hopeless">
    <Heading text="Where it cannot help" count={plural(part.hopelessCount, "node")} />
    <ul>
      {part.hopeless.map((group) => (
        <HopelessNodes view={view} group={group} />
      ))}
    </ul>
  </section>
);

function HopelessNodes({ view, group }: { view: View; group: Group }) {
  const { text, reasons, count: number, nodes } = group;
  const why = reasons.join(", ");
  const more = number > nodes.length;
  return (
    <li>
      <button
        type="button"
        class="link"
        title={more ? `highlight the first ${nodes.length} on the stage` : "highlight on the stage"}
        onClick={() => view.light(nodes, why ? `${text} (${why})` : text)}
      >
        <b class="num">{plural(number, "node")}</b>
      </button>
      {`: ${text}`}
      {why ? [" (", <span class="fail-text">{why}</span>, ")"] : null}
      <div class="chips">
        {nodes.slice(0, LINKED).map((node) => (
          <span class="chip">{nodeLink(view, node, NAME)}</span>
        ))}
        {number > LINKED ? <span class="dim">{`and ${count(number - LINKED)} more`}</span> : null}
      </div>
    </li>
  );
}
