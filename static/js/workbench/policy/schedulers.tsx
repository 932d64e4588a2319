// The schedulers of the SimulationSettings in the Policy tab: each with its delays, and what stands between them.

import { Button } from "../../kit/button.tsx";
import type { ListedScheduler, Schedulers } from "../../lib/protocol.js";
import { span } from "../../lib/quantity.ts";
import { Choice, Part, Setting } from "./controls.tsx";
import type { PolicyForm } from "./form.ts";
import { DELAYS, NONE, asLabels, runsOf, schedulerForm } from "./scheduler_form.tsx";

const DESIGNS: [design: string, label: string, does: string][] = [
  ["side-by-side", "side by side", "Nothing stands between them: the kubelet settles conflicts."],
  ["node-pools", "node pools", "Each sees the nodes with its labels alone, so every scheduler needs Nodes."],
  ["one-scheduler", "one scheduler", "One process serves all names, with one cache and one queue."],
  ["arbitrated", "with an arbiter", "A binder checks each binding against what is bound by then."],
];
const DEFAULT = "default-scheduler";
const SETTLED = "Which schedulers there are is settled from the start: choose that changes land at the start.";
const SELECTS =
  "spec.schedulerName selects the scheduler of a pod. Listed ones run next to each other, "
  + "in the virtual time of kube-scheduler v1.22, each with a view of its own.";

type SchedulersProps = {
  form: PolicyForm;
  schedulers: Schedulers;
  /** Changes land at a step, where the list has no effect. */
  landing: boolean;
  /** The release that answers where none is listed. */
  alone?: string;
};

export function SchedulersPart({ form, schedulers: { design, listed }, landing, alone = "" }: SchedulersProps) {
  const able = form.settable && !landing;
  const unlisted = !listed.some(({ name }) => name === DEFAULT);
  const usual = { name: DEFAULT, ...NONE, runs: listed.length ? "" : alone };
  return (
    <Part id="schedulers" title="Schedulers" target>
      <p class="dim fine">{landing ? SETTLED : SELECTS}</p>
      <ul class="sched-rows" aria-label="Schedulers">
        {unlisted ? <Row form={form} one={usual} able={able} listed={false} /> : null}
        {listed.map((one) => (
          <Row key={one.name} form={form} one={one} able={able} listed />
        ))}
      </ul>
      {able ? (
        <Button look="small" icon="plus" data-control="scheduler:add" act={() => schedulerForm(form, null)}>
          Add a scheduler…
        </Button>
      ) : null}
      {listed.length ? (
        <>
          <Setting name="Between them">
            <Choice
              control="design"
              aria-describedby="policy-design-does"
              options={DESIGNS}
              value={design}
              off={!able}
              act={(value, text) => form.change("design", "design", value, `design ${text}`)}
            />
          </Setting>
          <p class="policy-does dim" id="policy-design-does">
            {DESIGNS.find(([value]) => value === design)?.[2]}
          </p>
        </>
      ) : null}
    </Part>
  );
}

type RowProps = { form: PolicyForm; one: ListedScheduler; able: boolean; listed: boolean };

function Row({ form, one, able, listed }: RowProps) {
  const { name, replicas, nodes } = one;
  const notes = [
    runsOf(one),
    ...DELAYS.filter(([key]) => one[key]).map(([key, label]) => `${label.toLowerCase()} ${span(one[key])}`),
    replicas > 1 ? `${replicas} replicas` : "",
    Object.keys(nodes).length ? `nodes ${asLabels(nodes)}` : "",
    listed && DELAYS.some(([key]) => one[key]) ? "" : "no delays",
  ];
  return (
    <li data-name={name}>
      <div>
        <b>{name}</b>
        <small class="dim">{notes.filter(Boolean).join(", ")}</small>
      </div>
      {able ? (
        <Button
          look="small"
          data-control={`scheduler:${name}`}
          aria-label={`Change ${name}`}
          act={() => schedulerForm(form, one, listed)}
        >
          Change…
        </Button>
      ) : null}
      {able && listed ? (
        <Button
          look="quiet square"
          icon="minus"
          data-control={`scheduler:remove:${name}`}
          label={`Remove ${name}`}
          act={() => form.change("scheduler", name, "", `scheduler ${name} removed`)}
        />
      ) : null}
    </li>
  );
}
