// Change many nodes: chosen by labels, by names, or as those that are lit or selected. The effect is previewed, and it
// is one step of Undo.

import { signal } from "../../kit/signals.ts";
import { announce } from "../../lib/dom.ts";
import type { BulkPreview, Field as Row } from "../../lib/protocol.js";
import { count, plural } from "../../lib/quantity.ts";
import type { Edit } from "../edit/edit.ts";
import type { View } from "../view/view.ts";
import { rowOf } from "./fields.tsx";
import { FormPanel } from "./panel.tsx";
import { Choice, Since, When } from "../edit/when.tsx";

const NAMES = 48_000; // characters of names that a question may hold; more nodes are chosen by labels or patterns
const SHOWN = 24; // names of chosen nodes
const SUGGESTED = 100;

type Given = [label: string, placeholder: string, suggest: string];

// What can be done: its label and the verb of the button, then label, placeholder and suggestions of its fields.
const CHANGES: Record<string, [label: string, verb: string, key?: Given, value?: Given]> = {
  taint: ["Taint", "Taint", ["Taint", "gpu=yes:NoSchedule", "taints"]],
  untaint: ["Remove a taint", "Untaint", ["Taint", "gpu=yes:NoSchedule", "taints"]],
  label: ["Label", "Label", ["Label", "disk", ""], ["Value", "ssd", ""]],
  unlabel: ["Remove a label", "Unlabel", ["Label", "disk", ""]],
  cordon: ["Cordon", "Cordon"],
  uncordon: ["Uncordon", "Uncordon"],
  allocatable: ["Resize: set allocatable", "Resize", ["Resource", "cpu", "amounts"], ["Quantity", "8", ""]],
  condition: ["Set a condition", "Set on", ["Type", "MemoryPressure", "conditions"], ["Status", "True", "statuses"]],
  delete: ["Delete", "Delete"],
};
const WHAT = rowOf("what", "Change", "", {
  choices: Object.entries(CHANGES).map(([name, [label]]) => [name, label]),
});
const WHICH: Record<string, Row> = {
  selector: rowOf("selector", "Label selector", "disk in (ssd, nvme), !spot", {
    type: "selector",
    hint: "empty: every node",
    suggest: "labels",
  }),
  glob: rowOf("glob", "Names", "gpu-*, general-0?", {
    type: "names",
    hint: "* matches any characters, ? a single one",
    suggest: "names",
  }),
};
const SIGNS = { "+": ["comes", "+"], "-": ["goes", "−"], " ": ["", " "], "…": ["dim", "…"] } as const;

export class BulkChange extends FormPanel<BulkPreview> {
  readonly heading = "What it changes";
  protected readonly done = "changed";
  readonly #since;
  readonly #marked;
  readonly #by;

  constructor(
    readonly view: View,
    readonly edit: Edit,
  ) {
    super();
    const { nodes } = view.playback;
    this.#since = new Since(view.playback);
    this.#marked = markedIn(view);
    this.#by = signal(this.#marked ? "names" : "selector");
    this.typed.value = { what: "taint" };
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
    await this.#since.find();
    this.build("Change many nodes");
    this.at(this.#marked ? "what" : "which")?.focus();
    await this.ask();
  }

  get #change() {
    const [, verb, ...given] = CHANGES[this.typed.value.what];
    return { verb, given };
  }

  /** A field of what is done: what is written of one change does not go on to another. */
  #given([label, placeholder, suggest]: Given, i: number) {
    const path = i ? "value" : "key";
    return this.field(rowOf(`${this.typed.value.what} ${path}`, label, placeholder, { suggest }), { path, wide: !i });
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
          <div class="form-grid" onChange={() => (this.wrong.value = {})}>
            {this.field(WHAT)}
          </div>
          <div class="form-grid">{this.#change.given.map((given, i) => given && this.#given(given, i))}</div>
        </fieldset>
        <When since={this.#since} legend="When" alone="The nodes have this from the start." />
      </>
    );
  };

  protected label() {
    const { changed = 0, errors = [] } = this.answer.value ?? {};
    const { verb } = this.#change;
    return errors.length || !changed ? verb : `${verb} ${plural(changed, "node")}`;
  }

  readonly Shown = () => {
    const { errors = [], chosen, names = [], changed = 0, difference = [] } = this.answer.value ?? {};
    const listed = names.slice(0, SHOWN);
    const shown = errors.length ? [] : difference;
    return (
      <>
        <p class="bulk-state" role="status">
          {this.answer.value ? sentenceOf(this.answer.value) : null}
        </p>
        <div class="chips">
          {listed.map((name) => (
            <code class="chip">{name}</code>
          ))}
          {chosen && chosen > SHOWN ? <span class="dim">{`and ${count(chosen - listed.length)} more`}</span> : null}
        </div>
        <div class="bulk-diffs">
          {shown.map(({ name, lines }) => (
            <figure key={name}>
              <figcaption>{name}</figcaption>
              <pre class="diff" tabIndex={0} aria-label={`What changes of ${name}`}>
                {lines.map(([sign, text]) => (
                  <span class={SIGNS[sign][0]}>{`${SIGNS[sign][1]} ${text}\n`}</span>
                ))}
              </pre>
            </figure>
          ))}
          {!errors.length && changed > shown.length ? (
            <p class="dim fine">{`and so on for ${count(changed - shown.length)} more`}</p>
          ) : null}
          {chosen === 0 ? (
            <p class="dim fine">No node is selected. Labels are those of the nodes; names may contain * and ?.</p>
          ) : null}
        </div>
      </>
    );
  };

  get #wish() {
    const by = this.#by.value;
    const { what, ...typed } = this.typed.value;
    const which = by === "names" ? (this.#marked?.names.join("\n") ?? "") : (typed[by] ?? "");
    const [key = "", value = ""] = [typed[`${what} key`], typed[`${what} value`]];
    return { by, which, what, key, value, ...this.#since.wish };
  }

  request() {
    const { socket, source } = this.view.playback;
    return socket.call("nodes.preview", { source, ...this.#wish });
  }

  protected quiet(path: string) {
    return path === "key" && !this.pressed && !this.#wish.key;
  }

  protected refused(answer: BulkPreview) {
    if (super.refused(answer)) return true;
    if (answer.changed) return false;
    (this.at("which") ?? this.at("what"))?.focus();
    announce("Nothing would change.");
    return true;
  }

  async apply() {
    const { words } = await this.edit.operate(this.#wish, "bundle.bulk");
    this.edit.added(this.box, `${this.#since.words()}: ${words}.`);
  }
}

function sentenceOf({ nodes, chosen, absent, changed, errors }: BulkPreview) {
  const all = changed === chosen ? ", all of them change" : `, ${count(changed)} change: the others already have it`;
  const left = absent.length > SHOWN ? ` and ${count(absent.length - SHOWN)} more` : "";
  const out = `. Not there at this step, so left out: ${absent.slice(0, SHOWN).join(", ")}${left}`;
  return (
    <>
      <b>{`${count(chosen)} of ${plural(nodes, "node")}`}</b>
      {` chosen${errors.length || !chosen ? "" : all}${errors.length || !absent.length ? "" : out}`}
    </>
  );
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
