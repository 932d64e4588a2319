// The form of a scheduler of the SimulationSettings.

import type { ComponentChild } from "preact";
import type { ListedScheduler } from "../../lib/protocol.js";
import { releases } from "../../lib/releases.ts";
import { ask } from "./asking.tsx";
import type { PolicyForm } from "./form.ts";

const BATCH = "kube-batch";
export const NONE: Omit<ListedScheduler, "name"> = {
  runs: "",
  watchDelay: 0,
  decisionTime: 0,
  bindDelay: 0,
  replicas: 1,
  nodes: {},
};

export const DELAYS: [key: "watchDelay" | "decisionTime" | "bindDelay", label: string, hint: string][] = [
  ["watchDelay", "Watch delay", "from a write at the API server until it sees that"],
  ["decisionTime", "Decision time", "that a decision takes; its view is frozen meanwhile"],
  ["bindDelay", "Bind delay", "from the decision until its binding arrives"],
];

type Running = { name: string; runs: string };

const isBatch = ({ name, runs }: Running) => (runs || name) === BATCH;

/** The release of a scheduler that names none: the one in whose virtual time they run. */
const shared = () => releases().find(({ timed }) => timed)?.name ?? "";

export const runsOf = (of: Running) => (isBatch(of) ? BATCH : `kube-scheduler ${of.runs || shared()}`);

/** What a scheduler can run, with the value of each: the newest release comes first, after the one of the rest. */
function runnable(): [value: string, text: string][] {
  const others = releases().filter(({ timed }) => !timed);
  const named = others.map(({ name }): [string, string] => [name, `kube-scheduler ${name}`]).reverse();
  return [["", `kube-scheduler ${shared()}`], ...named, [BATCH, BATCH]];
}

export const asLabels = (nodes: Record<string, string>) =>
  Object.entries(nodes)
    .map((pair) => pair.join("="))
    .join(", ");

/** `key=value, …` as an object; null where it cannot be read. */
function labelsIn(text: string): Record<string, string> | null {
  const pairs = text
    .split(",")
    .filter((one) => one.trim())
    .map((one) => one.split("=").map((part) => part.trim()));
  return pairs.every((pair) => pair.length === 2 && pair[0]) ? Object.fromEntries(pairs) : null;
}

/** The form of a new scheduler, or of one that is there. */
export function schedulerForm(form: PolicyForm, given: ListedScheduler | null, listed = false) {
  const now = given ?? { name: "", ...NONE };
  ask({
    title: given ? `Scheduler ${given.name}` : "Add a scheduler",
    label: given ? "Change" : "Add",
    content: <Fields now={now} />,
    run: async (element) => {
      const entry = entryOf(new FormData(element));
      if (typeof entry === "string") return entry;
      const words = `scheduler ${entry.name} ${given ? "changed" : "added"}`;
      return form.ask("scheduler", listed ? now.name : "", JSON.stringify(entry), words);
    },
  });
}

function Fields({ now }: { now: ListedScheduler }) {
  const runs = runnable();
  const batch = ({ currentTarget }: { currentTarget: HTMLSelectElement }) => {
    const name = currentTarget.form?.elements.namedItem("name") as HTMLInputElement;
    if (currentTarget.value === BATCH) name.value = BATCH;
    else if (name.value === BATCH) name.value = "";
  };
  const field = (key: string, label: string, hint: string, control: (named: object) => ComponentChild) => {
    const id = `scheduler-${key}`;
    return (
      <div class="argument">
        <label for={id}>{label}</label>
        {control({ id, name: key, "aria-describedby": `${id}-about` })}
        <small class="dim" id={`${id}-about`}>
          {hint}
        </small>
      </div>
    );
  };
  const text = (value: string | number, more: object) => (named: object) => (
    <input class="field mono" autocomplete="off" spellcheck={false} defaultValue={String(value)} {...named} {...more} />
  );
  const number = (value: number) => text(value, { inputMode: "decimal", class: "field num" });
  return (
    <>
      {field(
        "name",
        "Name",
        "what its pods have in spec.schedulerName",
        text(now.name, { required: true, maxlength: 253 }),
      )}
      {field("runs", "Runs", "Coscheduling is a plugin of v1.22, in the profile of this name.", (named) => (
        <select class="field" onChange={batch} {...named}>
          {runs.map(([value, one]) => (
            <option value={value} selected={one === runsOf(now)}>
              {one}
            </option>
          ))}
        </select>
      ))}
      {DELAYS.map(([key, label, hint]) =>
        field(key, label, hint, (named) => (
          <span class="with-unit">
            {number(now[key])(named)}
            <span class="dim">seconds</span>
          </span>
        )),
      )}
      {field("replicas", "Replicas", "processes of this name without leader election, at most 8", number(now.replicas))}
      {field(
        "nodes",
        "Nodes",
        "labels of the nodes that it sees, as key=value; with node pools alone",
        text(asLabels(now.nodes), { placeholder: "pool=batch" }),
      )}
    </>
  );
}

/** The scheduler of a form, or what is wrong with it. */
function entryOf(asked: FormData): Record<string, unknown> | string {
  const typed = (key: string) => String(asked.get(key)).trim();
  const entry: Record<string, unknown> = { name: typed("name") };
  if (typed("runs") && entry.name !== BATCH) entry.runs = typed("runs");
  for (const [key, label] of DELAYS) {
    const value = typed(key).replace(",", ".");
    if (value !== "" && !/^-?\d+(\.\d+)?$/.test(value)) return `${label}: seconds, such as 0.5, not ${value}.`;
    entry[key] = Number(value || 0);
  }
  if (!/^\d{1,4}$/.test(typed("replicas"))) return "Replicas: a whole number from 1 to 8.";
  entry.replicas = Number(typed("replicas"));
  const labels = labelsIn(typed("nodes"));
  if (!labels) return "Nodes: labels as key=value, with a comma between them.";
  return { ...entry, nodes: labels };
}
