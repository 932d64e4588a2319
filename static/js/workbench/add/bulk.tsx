// Change many nodes: chosen by labels, by names, or as those that are lit or selected. The effect is previewed, and it
// is one step of Undo.

import { Button } from "../../kit/button.tsx";
import { Field } from "../../kit/field.tsx";
import { Select } from "../../kit/select.tsx";
import { signal } from "../../kit/signals.ts";
import { announce } from "../../lib/dom.js";
import type { BulkPreview, Field as Row } from "../../lib/protocol.js";
import { count, plural } from "../../lib/quantity.js";
import type { Edit } from "../edit.js";
import type { View } from "../view.js";
import { FormPanel } from "./panel.tsx";
import { address, Choice, since, When } from "./when.tsx";

const NAMES = 48_000; // characters of names that a question may hold; more nodes are chosen by labels or patterns
const SHOWN = 24; // names of chosen nodes
const SUGGESTED = 100;

type Given = [label: string, placeholder: string, suggest: string];

// What can be done: its label and the verb of the button, then label, placeholder and suggestions of its fields.
const CHANGES: Record<string, [label: string, verb: string, key?: Given, value?: Given]> = {
  taint: ["Taint", "Taint", ["Taint", "gpu=yes:NoSchedule", "taints"]],
  untaint: ["Take a taint away", "Untaint", ["Taint", "gpu=yes:NoSchedule", "taints"]],
  label: ["Label", "Label", ["Label", "disk", ""], ["Value", "ssd", ""]],
  unlabel: ["Take a label away", "Unlabel", ["Label", "disk", ""]],
  cordon: ["Cordon", "Cordon"],
  uncordon: ["Uncordon", "Uncordon"],
  allocatable: ["Resize: set allocatable", "Resize", ["Resource", "cpu", "amounts"], ["Quantity", "8", ""]],
  condition: ["Set a condition", "Set on", ["Type", "MemoryPressure", "conditions"], ["Status", "True", "statuses"]],
  delete: ["Delete", "Delete"],
};
const FIRST = "taint";
const BEGUN = { type: "text", default: "", hint: "", section: "" };
const WHICH: Record<string, Row> = {
  selector: {
    ...BEGUN,
    name: "selector",
    label: "Label selector",
    type: "selector",
    placeholder: "disk in (ssd, nvme), !spot",
    hint: "nothing: every node",
    suggest: "labels",
  },
  glob: {
    ...BEGUN,
    name: "glob",
    label: "Names",
    type: "names",
    placeholder: "gpu-*, general-0?",
    hint: "* matches any characters, ? a single one",
    suggest: "names",
  },
};
const SIGNS = { "+": ["comes", "+"], "-": ["goes", "−"], " ": ["", " "], "…": ["dim", "…"] } as const;

export class BulkChange extends FormPanel<BulkPreview> {
  readonly heading = "What it changes";
  readonly #step = signal("");
  readonly #by;
  readonly #what = signal(FIRST);
  readonly #index: number;
  readonly #marked;
  #now = ""; // the step on screen

  constructor(
    readonly view: View,
    readonly edit: Edit,
  ) {
    super();
    const { nodes, wantedCycle } = view.playback;
    this.#index = wantedCycle;
    this.#marked = markedIn(view);
    this.#by = signal(this.#marked ? "names" : "selector");
    this.known.value = {
      labels: dividing(nodes.labels),
      names: nodes.names.slice(0, 2 * SUGGESTED),
      taints: [...new Set(nodes.taints.flat())].slice(0, SUGGESTED),
      amounts: ["cpu", "memory", "pods", ...Object.keys(nodes.extended)],
      conditions: ["MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable", "Ready"],
      statuses: ["True", "False", "Unknown"],
    };
  }

  async open() {
    this.#now = await address(this.view.playback, this.#index);
    this.build("Change many nodes");
    this.at(this.#marked ? "what" : "which")?.focus();
    await this.ask();
  }

  /** The fields that the chosen change needs. */
  get #given() {
    const [, , ...given] = CHANGES[this.#what.value];
    return given.map(([label, placeholder, suggest] = ["", "", ""], i): Row => {
      return { ...BEGUN, name: i ? "value" : "key", label, placeholder, suggest };
    });
  }

  #choose(what: string) {
    const { key, value, ...which } = this.typed.value;
    this.typed.value = which;
    this.wrong.value = {};
    this.#what.value = what;
  }

  readonly Fields = () => {
    const by = this.#by.value;
    const choice = { name: "bulk-by", chosen: this.#by };
    const marked = this.#marked;
    return (
      <>
        <fieldset class="edit-when">
          <legend>Which nodes</legend>
          {marked ? (
            <Choice {...choice} value="names" label={marked.label} hint={plural(marked.names.length, "node")} />
          ) : null}
          <Choice {...choice} value="selector" label="By labels" hint="in the syntax of kubectl -l" />
          <Choice {...choice} value="glob" label="By names" hint="with patterns" />
          <div class="form-grid bulk-which">{by in WHICH ? this.field(WHICH[by], { path: "which" }) : null}</div>
        </fieldset>
        <fieldset>
          <legend>What is done</legend>
          <div class="form-grid">
            <Field
              label="Change"
              wide
              control={(its) => (
                <Select
                  {...its}
                  data-field="what"
                  options={Object.entries(CHANGES).map(([name, [label]]) => [name, label])}
                  value={this.#what.value}
                  onChange={(what) => this.#choose(what)}
                />
              )}
            />
          </div>
          <div class="form-grid">{this.#given.map((row, i) => this.field(row, { wide: !i }))}</div>
        </fieldset>
        <When
          index={this.#index}
          step={this.#now}
          chosen={this.#step}
          legend="When"
          alone="The nodes have this from the start."
        />
      </>
    );
  };

  readonly Buttons = () => {
    const { changed = 0, errors = [] } = this.answer.value ?? {};
    const [, verb] = CHANGES[this.#what.value];
    return (
      <Button type="submit" look="primary" icon="check" data-bulk>
        <span>{errors.length || !changed ? verb : `${verb} ${plural(changed, "node")}`}</span>
      </Button>
    );
  };

  readonly Shown = () => {
    if (!this.answer.value) return <p class="bulk-state" role="status" />;
    const { nodes, chosen, names, absent, changed, errors, difference } = this.answer.value;
    const wrong = errors.length > 0;
    const listed = names.slice(0, SHOWN);
    return (
      <>
        <p class="bulk-state" role="status">
          <b>{`${count(chosen)} of ${plural(nodes, "node")}`}</b>
          {" chosen"}
          {wrong || !chosen
            ? ""
            : changed === chosen
              ? ", all of them change"
              : `, ${count(changed)} change: the others already have it`}
          {wrong || !absent.length ? "" : `. Not there at this step, so left out: ${absent.slice(0, SHOWN).join(", ")}`}
          {wrong || absent.length <= SHOWN ? "" : ` and ${count(absent.length - SHOWN)} more`}
        </p>
        <div class="chips">
          {listed.map((name) => (
            <code class="chip" key={name}>
              {name}
            </code>
          ))}
          {chosen > SHOWN ? <span class="dim">{`and ${count(chosen - listed.length)} more`}</span> : null}
        </div>
        <div class="bulk-diffs">
          {wrong
            ? null
            : difference.map(({ name, lines }) => (
                <figure key={name}>
                  <figcaption>{name}</figcaption>
                  <pre class="diff" tabIndex={0} aria-label={`What changes of ${name}`}>
                    {lines.map(([sign, text]) => (
                      <span class={SIGNS[sign][0]}>{`${SIGNS[sign][1]} ${text}\n`}</span>
                    ))}
                  </pre>
                </figure>
              ))}
          {!wrong && changed > difference.length ? (
            <p class="dim fine">{`and so on for ${count(changed - difference.length)} more`}</p>
          ) : null}
          {chosen ? null : (
            <p class="dim fine">No node is selected. Labels are those of the nodes; names may contain * and ?.</p>
          )}
        </div>
      </>
    );
  };

  get #wish() {
    const by = this.#by.value;
    const { [by]: written = "", key = "", value = "" } = this.typed.value;
    const which = by === "names" ? (this.#marked?.names.join("\n") ?? "") : written;
    const step = this.#step.value;
    return { by, which, what: this.#what.value, key, value, ...(step ? { step } : {}) };
  }

  paths() {
    return new Set([...(this.#by.value in WHICH ? ["which"] : []), ...this.#given.map(({ name }) => name)]);
  }

  request() {
    const { socket, source } = this.view.playback;
    return socket.call("nodes.preview", { source, ...this.#wish });
  }

  protected quiet(path: string) {
    return path === "key" && !this.pressed && !this.typed.value.key;
  }

  protected refused(answer: BulkPreview) {
    if (super.refused(answer)) return true;
    if (answer.changed) return false;
    (this.at("which") ?? this.at("what"))?.focus();
    announce("Nothing would change.");
    return true;
  }

  protected refusal(errors: { message: string }[]) {
    return `Nothing was changed: ${errors[0].message}`;
  }

  async apply() {
    const { words } = await this.edit.operate(this.#wish, "bundle.bulk");
    this.edit.added(this.box, `${since(this.#step.value, this.#index)}: ${words}.`);
  }
}

/** The nodes that are lit or selected, and how they came to be. */
function markedIn({ playback, lit, node }: View) {
  const { names } = playback.nodes;
  const found = lit ? [...lit.nodes].map((at) => names[at]) : [];
  if (lit && found.join("\n").length < NAMES) return { label: `Lit: ${lit.label}`, names: found };
  return node >= 0 ? { label: `Selected: ${names[node]}`, names: [names[node]] } : null;
}

/** Labels that several nodes have, and so divide them. */
function dividing(labels: Record<string, string>[]) {
  const seen = new Map<string, number>();
  for (const [key, value] of labels.flatMap((of) => Object.entries(of)))
    seen.set(`${key}=${value}`, (seen.get(`${key}=${value}`) ?? 0) + 1);
  return [...seen]
    .filter(([, n]) => n > 1)
    .sort((a, b) => b[1] - a[1])
    .slice(0, SUGGESTED)
    .map(([text]) => text);
}
