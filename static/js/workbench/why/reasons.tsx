// The reasons in an answer of Why?: what became of a pod, and what fails on one node or on all.

import { Button } from "../../kit/button.tsx";
import { Icon } from "../../kit/icon.tsx";
import type { Amounts, Failure, WhyAnswer } from "../../lib/protocol.js";
import { count, plural, short } from "../../lib/quantity.ts";
import { RecordedFigure } from "../dump/recorded.tsx";

const NODES_LISTED = 500; // names that the field for a node suggests
const NAMED = 8; // nodes of a group
const WARNINGS_OPEN = 3; // of more, only the number until they are unfolded
/** States in which a pod is no more: there is nothing to change. */
export const GONE = new Set<WhyAnswer["state"]>(["finished", "preempted", "deleted", "absent"]);
const PILLS: Partial<Record<WhyAnswer["state"], string>> = {
  placed: "pass",
  bound: "pass",
  pending: "fail",
  preempted: "victim",
};

const list = (texts: string[]) =>
  texts.length < 2 ? texts.join("") : `${texts.slice(0, -1).join(", ")} and ${texts.at(-1)}`;

/** `wants 2 cpu; 1350m of 4 free, 650m short`. */
const inWords = ({ resource, requested, free, shortBy, allocatable }: Amounts) =>
  resource === "pods"
    ? `the node allows ${allocatable} pods, and has as many`
    : `wants ${requested} ${resource}; ${free} of ${allocatable} free, ${shortBy} short`;

/** A reason without the "node(s)" that counts nodes in the message. */
const plain = (text: string) => text.replace(/^node\(s\) /, "");

/** The facts of one failure as sentences. */
function factsOf({ error, numbers = [], details = [], reasons }: Failure): string[] {
  if (error) return [error];
  const resources = new Set(numbers.map(({ resource }) => `${resource}:`));
  const others = details.filter((text) => !resources.has(text.split(" ")[0] ?? ""));
  const texts = [...numbers.map(inWords), ...others];
  return texts.length ? texts : reasons.map(plain);
}

/** The heading over an answer, about one node or about all. */
export function title({ pod, state, asked, node, nodes }: WhyAnswer, about: string | null) {
  const name = short(pod);
  const open = state === "pending" || state === "other";
  if (asked && node !== null && node === about) return `Why is ${name} on ${asked}?`;
  if (asked) return open && nodes[0]?.fits ? `${name} fits on ${asked}` : `Why is ${name} not on ${asked}?`;
  if (open) return `Why is ${name} pending?`;
  return node && (state === "placed" || state === "bound") ? `Why is ${name} on ${node}?` : `What became of ${name}?`;
}

type AboutProps = { answer: WhyAnswer; edit: ((target: string) => void) | null };

/** What is asked about, and the answer in a sentence; `edit` begins to change a pod or node, null: nothing can be. */
export function About({ answer, edit }: AboutProps) {
  const { index, step, before, state, summary, recorded, warnings, pod, asked } = answer;
  const cycle = `cycle ${count(index)} (${step})`;
  const moment =
    state === "placed"
      ? `decided by ${cycle}`
      : before
        ? `the cluster at the start of ${cycle}`
        : index
          ? `after ${cycle}`
          : "before the first cycle";
  const editable = [GONE.has(state) ? "" : `Pod ${pod}`, asked ? `Node ${asked}` : ""].filter(Boolean);
  return (
    <section class="why-about">
      <p class="why-row">
        <span class={`pill ${PILLS[state] ?? ""}`}>{state === "other" ? "another scheduler's" : state}</span>
        <span class="mono">{pod}</span>
        <span class="dim">{moment}</span>
      </p>
      <p class="why-summary">{summary}</p>
      <Warnings warnings={warnings} />
      <RecordedFigure answer={recorded} />
      {edit && editable.length ? (
        <div class="why-row why-edit">
          {editable.map((target) => (
            <Button key={target} look="small" icon="edit" act={() => edit(target)}>
              {`Edit this ${target.split(" ")[0]?.toLowerCase()}`}
            </Button>
          ))}
        </div>
      ) : null}
    </section>
  );
}

/** What reading warned of that concerns the pod; many fold under their number. */
function Warnings({ warnings }: Pick<WhyAnswer, "warnings">) {
  if (!warnings.length) return null;
  const list = (
    <ul aria-label="Warnings">
      {warnings.map(({ message, line, file }) => (
        <li>
          {message} {line ? <small class="dim">{`${file ? `${file}, ` : ""}line ${line}`}</small> : null}
        </li>
      ))}
    </ul>
  );
  return (
    <div class="note warning why-warnings">
      <Icon name="warn" />
      {warnings.length <= WARNINGS_OPEN ? (
        list
      ) : (
        <details>
          <summary>{`${count(warnings.length)} warnings about the input concern this pod`}</summary>
          {list}
        </details>
      )}
    </div>
  );
}

/** Facts on a subject each: what preemption evaluated, the members of a PodGroup, hints. */
export const Sections = ({ answer: { sections } }: { answer: WhyAnswer }) => (
  <>
    {sections.map(({ title, sentences }) => (
      <section class="why-facts">
        <h3>{title}</h3>
        <ul>
          {sentences.map((text) => (
            <li>{text}</li>
          ))}
        </ul>
      </section>
    ))}
  </>
);

/** What put the chosen node before the one it is compared with. */
export function Leads({ answer: { story }, scorer }: { answer: WhyAnswer; scorer: string }) {
  const leads = story?.leads?.filter(({ points }) => points) ?? [];
  if (!leads.length) return null;
  return (
    <section class="why-leads">
      <h3>
        {`${story?.node} against ${story?.rival} `}
        <small class="dim">{`what each ${scorer} gave, times its weight`}</small>
      </h3>
      <ul>
        {leads.map(({ priority, weight, chosen, other, points }) => (
          <li key={priority}>
            <span>{priority}</span>
            <span class="dim num">{`${chosen} against ${other}${weight === 1 ? "" : ` × ${count(weight)}`}`}</span>
            <b class={`num ${points > 0 ? "pass-text" : "fail-text"}`}>
              {`${points > 0 ? "+" : "−"}${count(Math.abs(points))}`}
            </b>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** One node: the scheduler's own answer with its numbers, then what would refuse the node as well. */
export function NodeReasons({ answer, rule }: { answer: WhyAnswer; rule: string }) {
  const [verdict] = answer.nodes;
  if (!verdict) return null;
  const { node, fits, failures } = verdict;
  if (fits)
    return (
      <section class="why-node">
        <h3>{node}</h3>
        <p class="pass-text">
          <Icon name="check" />{" "}
          {answer.state === "placed"
            ? `Every ${rule} passed on ${node}; another node had the better total.`
            : `Every ${rule} passes on ${node}.`}
        </p>
      </section>
    );
  const further = failures.filter((failure) => failure.further);
  return (
    <section class="why-node">
      <h3>
        {`${node} `}
        <small class="dim">{`${plural(failures.length, rule)} ${failures.length === 1 ? "fails" : "fail"}`}</small>
      </h3>
      <Failing failures={failures.filter((failure) => !failure.further)} rule={rule} />
      {further.length ? (
        <>
          <h4 class="why-further">Would refuse as well</h4>
          <Failing failures={further} rule={rule} kind="further" />
        </>
      ) : null}
    </section>
  );
}

type FailingProps = { failures: Failure[]; rule: string; kind?: string };

const Failing = ({ failures, rule, kind = "" }: FailingProps) => (
  <ul class={`why-failures ${kind}`}>
    {failures.map((failure) => (
      <li key={failure.predicate}>
        <p class="why-predicate">
          <Icon name="cross" />
          <b>{failure.predicate || `before any ${rule}`}</b>
        </p>
        <ul>
          {factsOf(failure).map((text) => (
            <li>{text}</li>
          ))}
        </ul>
        {failure.reasons.length ? <p class="dim fine mono">{failure.reasons.join(", ")}</p> : null}
      </li>
    ))}
  </ul>
);

/** The reasons of a failure without its name. */
const inShort = ({ predicate, reasons, error }: Failure) =>
  error ?? list(reasons.filter((text) => text !== predicate).map(plain));

type GroupsProps = { answer: WhyAnswer; ask: (node: string) => void };

/** All nodes by what fails there; `ask` asks about one of them. */
export function Groups({ answer: { groups, nodesCount, state }, ask }: GroupsProps) {
  if (!groups.length) return null;
  const left = nodesCount - groups.reduce((sum, group) => sum + group.count, 0);
  return (
    <section class="why-groups">
      <h3>
        Nodes{" "}
        <small class="dim">{`${plural(nodesCount, "node")}, by what fails there; choose one for its numbers`}</small>
      </h3>
      <ul>
        {groups.map(({ failures, count: nodes, nodes: names }) => (
          <li class={failures.length ? "" : "fits"}>
            <span class="why-count num">{count(nodes)}</span>
            <div>
              <p>
                {failures.length ? (
                  failures.map((failure, i) => (
                    <>
                      {/* The scheduler's own answer ends where those begin that would refuse as well. */}
                      {i ? (
                        <span class="dim">
                          {failure.further && !failures[i - 1]?.further ? "; would refuse as well: " : " and "}
                        </span>
                      ) : null}
                      <span class={failure.further ? "dim" : ""} title={failure.predicate}>
                        {inShort(failure)}
                      </span>
                    </>
                  ))
                ) : (
                  <span class="pass-text">{state === "placed" ? "passed all filters" : "fits"}</span>
                )}
              </p>
              <span class="why-rail" aria-hidden="true">
                <i style={{ width: `${Math.max(1, (nodes / (nodesCount || 1)) * 100)}%` }} />
              </span>
              <div class="chips">
                {names.slice(0, NAMED).map((name) => (
                  <button
                    key={name}
                    type="button"
                    class="chip why-ask"
                    aria-label={`${failures.length ? "Why not" : "Why"} on ${name}?`}
                    onClick={() => ask(name)}
                  >
                    {name}
                  </button>
                ))}
                {nodes > Math.min(NAMED, names.length) ? (
                  <span class="dim fine">{`and ${count(nodes - Math.min(NAMED, names.length))} more`}</span>
                ) : null}
              </div>
            </div>
          </li>
        ))}
      </ul>
      {left > 0 ? <p class="dim fine">{`and ${count(left)} nodes in smaller groups`}</p> : null}
    </section>
  );
}

type OtherProps = { answer: WhyAnswer; names: string[]; ask: (node: string | null) => void };

/** Another node of `names`, or all of them. */
export function Other({ answer, names, ask }: OtherProps) {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget as HTMLFormElement).get("node")).trim();
    if (name) ask(name);
  };
  return (
    <form class="why-other" onSubmit={submit}>
      <span class="dim">Why not on</span>
      <input
        class="field"
        name="node"
        list="why-nodes"
        autocomplete="off"
        spellcheck={false}
        placeholder="a node's name"
        aria-label="Ask about a node"
      />
      <datalist id="why-nodes">
        {names.slice(0, NODES_LISTED).map((name) => (
          <option value={name} />
        ))}
      </datalist>
      <button class="btn">Ask</button>
      {answer.asked ? (
        <Button look="quiet" act={() => ask(null)}>
          All nodes
        </Button>
      ) : null}
    </form>
  );
}
