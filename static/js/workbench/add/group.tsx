// A PodGroup and its workload from a form: the YAML that it adds is seen while one types, and so is what is wrong.

import type { Field, FieldProblem, GroupDraft } from "../../lib/protocol.js";
import { rowOf } from "./fields.tsx";
import { DocumentPanel } from "./panel.tsx";

const PLUGIN = "coscheduling";
const DIALECTS: Record<string, string> = {
  current: "current Coscheduling",
  classic: "classic Coscheduling, 2021",
  native: "Kubernetes' own",
  "kube-batch": "kube-batch",
};
const WORKLOADS: [value: string, text: string][] = [
  ["Job", "Job"],
  ["Deployment", "Deployment"],
  ["Pods", "plain pods"],
];
const NUMBER = { type: "integer" };

type Row = [name: string, label: string, placeholder: string, hint?: string, more?: Partial<Field>];
const SECTIONS: [heading: string, rows: Row[]][] = [
  [
    "The group",
    [
      ["name", "Name", "train"],
      ["namespace", "Namespace", "default"],
      ["minMember", "minMember", "4", "pods that are placed together or not at all", NUMBER],
      ["scheduleTimeoutSeconds", "scheduleTimeoutSeconds", "plugin's: 60", "how long a member waits at Permit", NUMBER],
      ["minCpu", "minResources cpu", "not checked"],
      ["minMemory", "minResources memory", "not checked"],
      ["dialect", "Dialect", "", "apiVersion, and how a pod names its group", { choices: Object.entries(DIALECTS) }],
    ],
  ],
  [
    "Its workload",
    [
      ["workload", "Kind", "", "", { choices: WORKLOADS }],
      ["replicas", "Pods", "4", "", NUMBER],
      ["cpu", "cpu of a pod", "none"],
      ["memory", "memory of a pod", "none"],
      ["priorityClassName", "Priority class", "", "", { suggest: "priorityClasses" }],
      ["runSeconds", "Runs for, in seconds", "no end", "podstep/run-seconds of its pods", NUMBER],
    ],
  ],
  ["", [[PLUGIN, "Schedule it with Coscheduling", "", "", { type: "flag" }]]],
];

export class Group extends DocumentPanel<GroupDraft> {
  protected readonly kind = "group";
  readonly rows = SECTIONS.flatMap(([section, rows]) =>
    rows.map(([name, label, placeholder, hint = "", more]) =>
      rowOf(name, label, placeholder, { hint, section, ...more }),
    ),
  );

  async open() {
    this.typed.value = { workload: "Job", [PLUGIN]: "true" };
    await this.openAs("A PodGroup and its workload");
    await this.ask();
  }

  /** What can be chosen, what is doubtful and what a dialect has not, is the server's. */
  field(row: Field) {
    const { name } = row;
    const { dialects = [], doubts = [], coscheduling = false } = this.answer.value ?? {};
    const { dialect, [name]: text, [PLUGIN]: plugin } = this.typed.value;
    const lacks = dialects.find(([id]) => id === dialect)?.[2].includes(name);
    const more: Partial<Field> = {};
    if (name === "dialect" && dialects.length)
      more.choices = dialects.map(([id, version]) => [id, `${version} · ${DIALECTS[id] ?? id}`]);
    if (lacks) more.hint = "this API group has no such field";
    if (name === PLUGIN && coscheduling) more.hint = "The scheduler has the plugin already.";
    else if (name === PLUGIN && plugin !== "true")
      more.hint = "Without it no plugin reads the PodGroup: its pods are scheduled individually.";
    const doubt = doubts.find(({ field }) => field === name)?.message;
    const disabled = name === PLUGIN ? coscheduling : lacks && !text;
    return super.field({ ...row, ...more }, { id: `group-${name}`, doubt, disabled });
  }

  notes() {
    const { notes = [], doubts = [] } = this.answer.value ?? {};
    return notes.filter((text) => !doubts.some(({ message }: FieldProblem) => message === text));
  }

  request() {
    const { fields, ...asked } = this.asked;
    const coscheduling = fields[PLUGIN] === "true";
    // To begin with, what is not typed is the server's.
    const given = this.answer.value ? fields : Object.fromEntries(Object.entries(fields).filter(([, text]) => text));
    return this.view.playback.socket.call("group.draft", { ...asked, fields: { ...given, coscheduling } });
  }

  show(answer: GroupDraft) {
    const { defaults, priorityClasses } = answer;
    if (!this.answer.value)
      this.typed.value = Object.fromEntries(
        this.rows.map(({ name, choices }) => [name, (!choices && this.typed.value[name]) || (defaults[name] ?? "")]),
      );
    this.know({ priorityClasses });
    super.show(answer);
  }
}
