// Generate a cluster: pools and workloads by a recipe and a seed, with the totals beside it. In the workbench it
// becomes the draft or is added to it; on the start page it becomes a new one.

import { Button } from "../../kit/button.tsx";
import { Hosted } from "../../kit/hosted.tsx";
import { Select } from "../../kit/select.tsx";
import { signal, type Signal } from "../../kit/signals.ts";
import { $ } from "../../lib/dom.ts";
import { Editor } from "../../editor/editor.ts";
import type { ClusterSummary, Field, GeneratedCluster, Recipes } from "../../lib/protocol.js";
import { count, cpu, memory, plural } from "../../lib/quantity.ts";
import { CommandError, type Socket } from "../../lib/socket.ts";
import type { Edit } from "../edit/edit.ts";
import type { View } from "../view/view.ts";
import type { Texts } from "./fields.tsx";
import { FormPanel } from "./panel.tsx";

const DRAFT_CHARACTERS = 3_900_000; // that a draft in the workbench may have
const FIRST = "small";
const FIT_BYTES = 60_000; // in a frame
const NO_FIT = { file: "", workload: "", refused: "" };
const LISTS = {
  pools: {
    heading: "Nodes",
    noun: "node pool",
    add: "Add a node pool",
    none: "No nodes yet: a cluster needs at least one pool.",
    names: ["general", "compute", "memory", "gpu", "spot"],
    ahead: 5, // fields that are not folded
  },
  workloads: {
    heading: "Workloads",
    noun: "workload",
    add: "Add workloads",
    none: "No workloads: only nodes, to which you can add your own.",
    names: ["web", "api", "db", "report", "train", "agent"],
    ahead: 4,
  },
};
const LEADING = { look: "primary", icon: "check" };
const DROP = { look: "quiet square tiny gen-drop", icon: "cross" };
type What = keyof typeof LISTS;
const WHATS = Object.keys(LISTS) as What[];

/** A pool or a workload; `open` where its fields that are folded say something. */
type Row = { key: number; open: boolean; typed: Signal<Texts>; ref?: (row: HTMLElement | null) => void };
type Action = [label: string, act: (generator: Generator) => unknown];

let table: Recipes | null = null; // the server's, asked for once

export class Generator extends FormPanel<GeneratedCluster> {
  readonly heading = "Result";
  protected readonly done = "generated";
  readonly #recipe = signal(FIRST);
  readonly #rows: Record<What, Signal<Row[]>> = { pools: signal([]), workloads: signal([]) };
  readonly #fit = signal(NO_FIT); // the distributions of a trace, and the file that they are from
  readonly #fitted = signal<Texts>({});
  readonly #made = signal<GeneratedCluster | null>(null); // the last one without an error, which stays in view
  readonly #preview = new Editor({ label: "The first lines of its YAML", readOnly: true });
  #keys = 0;
  #table!: Recipes;

  /** The first of the actions is what Ctrl Enter does. */
  constructor(
    readonly socket: Socket,
    readonly actions: Action[],
  ) {
    super();
  }

  async open() {
    this.#table = table ??= await this.socket.call("cluster.recipes", {});
    this.#load(FIRST);
    this.build("Generate a cluster");
    this.at("recipe")?.focus();
    void this.#preview.enrich();
    await this.ask();
  }

  #load(name: string) {
    const recipe = this.#table.recipes.find((row) => row.name === name)?.recipe;
    if (!recipe) return;
    this.#recipe.value = name;
    this.wrong.value = {};
    this.typed.value = filled(this.#table.top, recipe as unknown as Texts);
    this.#fitted.value = filled(this.#table.fit, {});
    for (const what of WHATS)
      this.#rows[what].value = ((recipe[what] ?? []) as Texts[]).map((texts) => this.#row(what, texts));
  }

  #row(what: What, texts: Texts): Row {
    const fields = this.#table[what];
    const typed = filled(fields, texts);
    const more = fields.slice(LISTS[what].ahead);
    const open = more.some(({ name, default: usual }) => typed[name] && typed[name] !== usual);
    return { key: (this.#keys += 1), open, typed: signal(typed) };
  }

  #add(what: What) {
    const rows = this.#rows[what];
    const { names } = LISTS[what];
    const taken = new Set(rows.value.map(({ typed }) => typed.value.name));
    const name = names.find((one) => !taken.has(one)) ?? `${names[0]}-${rows.value.length + 1}`;
    rows.value = [...rows.value, { ...this.#row(what, { name }), ref: typedOver }];
    this.draft();
  }

  #drop(what: What, at: number) {
    const rows = this.#rows[what];
    (this.at(`${what}.${at + 1}.name`) ?? this.at(`${what}.${at - 1}.name`) ?? this.at(`add ${what}`))?.focus();
    rows.value = rows.value.filter((_, i) => i !== at);
    this.wrong.value = {};
    this.draft();
  }

  readonly Fields = () => (
    <>
      <div class="gen-begin">
        <label>
          <span class="dim">Begin with</span>
          <Select
            aria-label="Begin with a recipe"
            data-field="recipe"
            options={this.#table.recipes.map(({ name, title }) => [name, title])}
            value={this.#recipe.value}
            onChange={(name) => this.#load(name)}
          />
        </label>
      </div>
      <div class="form-grid gen-top">{this.#table.top.map((row) => this.field(row))}</div>
      {WHATS.map((what) => (
        <fieldset key={what}>
          <legend>{LISTS[what].heading}</legend>
          <div class="gen-rows">
            {this.#rows[what].value.map((row, at) => this.#entry(what, row, at))}
            {this.#rows[what].value.length ? null : <p class="gen-none dim fine">{LISTS[what].none}</p>}
          </div>
          <Button look="small" icon="plus" data-field={`add ${what}`} act={() => this.#add(what)}>
            {LISTS[what].add}
          </Button>
        </fieldset>
      ))}
      <fieldset>
        <legend>Pods of a trace</legend>
        {this.#fit.value.file ? (
          <div class="form-grid">
            {this.#table.fit.map((row) => this.field(row, { path: `fit.${row.name}` }, this.#fitted))}
          </div>
        ) : null}
        <p class="dim fine" role="status">
          {this.#fit.value.file
            ? `They come and go as ${this.#fit.value.file} has it, on its nodes where there are no others.`
            : "Choose what podstep fit --save has written: sizes, lifetimes and arrivals fitted to a trace."}
        </p>
        {this.#fit.value.refused ? (
          <p class="fail-text fine" role="alert">
            {this.#fit.value.refused}
          </p>
        ) : null}
        {this.#fit.value.file ? (
          <Button look="small" icon="cross" act={() => this.#chosen(NO_FIT)}>
            Without the trace
          </Button>
        ) : (
          <label>
            <span class="dim">A fitted workload</span>{" "}
            <input
              type="file"
              accept=".json,application/json"
              data-field="fit.workload"
              onChange={({ currentTarget: { files } }) => files?.[0] && void this.#choose(files[0])}
            />
          </label>
        )}
      </fieldset>
    </>
  );

  async #choose(file: File) {
    if (file.size <= FIT_BYTES) return this.#chosen({ file: file.name, workload: await file.text(), refused: "" });
    this.#chosen({ ...NO_FIT, refused: `${file.name} has more than ${count(FIT_BYTES)} bytes.` });
  }

  #chosen(fit: typeof NO_FIT) {
    this.#fit.value = fit;
    if (fit.file) this.#rows.pools.value = [];
    this.draft();
  }

  #entry(what: What, { key, ref, open, typed }: Row, at: number) {
    const { noun, ahead } = LISTS[what];
    const sizes = this.#table.shapes[typed.value.shape ?? ""] ?? {};
    const fields = this.#table[what].map((row) => {
      const placeholder = sizes[row.name] ?? row.placeholder;
      return this.field({ ...row, placeholder }, { path: `${what}.${at}.${row.name}` }, typed);
    });
    return (
      <div class="gen-row" role="group" aria-label={noun} key={key} ref={ref}>
        <div class="form-grid">{fields.slice(0, ahead)}</div>
        <details class="form-more" open={open}>
          <summary>More</summary>
          <div class="form-grid">{fields.slice(ahead)}</div>
        </details>
        <Button {...DROP} label={`Remove this ${noun}`} act={() => this.#drop(what, at)} />
      </div>
    );
  }

  readonly Buttons = () =>
    this.actions.map(([label, act], at) => (
      <Button key={label} {...(at ? {} : LEADING)} act={() => this.submit(() => this.#finish(act))}>
        {label}
      </Button>
    ));

  readonly Shown = () => (
    <>
      <div class="gen-summary">{this.#made.value ? <Figures {...this.#made.value.summary} /> : null}</div>
      <Hosted element={this.#preview.element} />
    </>
  );

  get totals() {
    const { nodes = 0, pods = 0 } = this.answer.value?.summary ?? {};
    return `${plural(nodes, "node")} and ${plural(pods, "pod")}`;
  }

  get recipe() {
    const texts = ({ typed }: Row) => typed.value;
    const { pools, workloads } = this.#rows;
    const { workload } = this.#fit.value;
    return {
      ...this.typed.value,
      pools: pools.value.map(texts),
      workloads: workloads.value.map(texts),
      ...(workload ? { fit: { ...this.#fitted.value, workload } } : {}),
    };
  }

  request() {
    return this.socket.call("cluster.generate", { recipe: this.recipe });
  }

  protected show(answer: GeneratedCluster) {
    super.show(answer);
    const { errors, shown, documents } = answer;
    const part = shown < documents ? `, the first ${count(shown)} shown` : "";
    this.stands.value = errors.length ? plural(errors.length, "error") : `${plural(documents, "document")}${part}`;
    if (errors.length) return;
    this.#made.value = answer;
    this.#preview.value = answer.bundle;
  }

  apply() {
    return this.#finish(this.actions[0][1]);
  }

  async #finish(act: Action[1]) {
    await act(this);
    this.box.close();
    $("#main").focus({ preventScroll: true }); // where it shows, and where the keys step
  }

  /** The whole text. Raises what the server finds wrong with all of it. */
  async whole() {
    const { bundle, errors } = await this.socket.call("cluster.generate", { recipe: this.recipe, whole: "true" });
    if (errors.length) throw new CommandError({ code: "recipe.invalid", message: errors[0].message, errors });
    return bundle;
  }

  /** Make a draft of it and go there. */
  async create() {
    const { url } = await this.socket.call("cluster.create", { recipe: this.recipe });
    location.assign(url);
    await new Promise(() => {}); // the page is being left
  }
}

/** Open it over a draft. */
export function openGenerator({ playback }: View, edit: Edit) {
  const wordsOf = (made: Generator) => `a generated cluster of ${made.totals}`;
  const replace = async (made: Generator) => {
    const text = await made.whole();
    if (text.length > DRAFT_CHARACTERS) return made.create();
    await edit.replace(text, wordsOf(made));
    edit.notify(`The draft is ${wordsOf(made)} now.`);
  };
  const add = async (made: Generator) => {
    await edit.operate({ documents: await made.whole() }, "bundle.add");
    edit.notify(`Added: ${wordsOf(made)}.`);
  };
  const actions: Action[] = [
    ["Replace this draft", replace],
    ["Add to this draft", add],
  ];
  return new Generator(playback.socket, actions).open();
}

const typedOver = (row: HTMLElement | null) => row?.querySelector("input")?.select();

/** The texts of fields, the usual ones where none are given. */
const filled = (fields: readonly Field[], texts: Texts) =>
  Object.fromEntries(fields.map(({ name, default: usual }) => [name, texts[name] ?? usual]));

/** Millicores of a whole cluster: nobody reads the last cores of hundreds. */
const coresOf = (milli: number) => cpu(milli >= 10_000 ? Math.round(milli / 1000) * 1000 : milli);

function Figures({ nodes, pods, gpus, wantedGpus, rows, interactive, ...sum }: ClusterSummary) {
  return (
    <>
      <p class="gen-line" role="status">
        <b>{plural(nodes, "node")}</b>
        {`, ${coresOf(sum.cpu)} cpu, ${memory(sum.memory)} memory${gpus ? `, ${plural(gpus, "GPU")}` : ""}; `}
        <b>{plural(pods, "pod")}</b>
        {rows.length ? ` of ${rows.map(([name, n]) => `${name} (${count(n)})`).join(", ")}` : ""}
      </p>
      <dl>
        <Share label="cpu" wanted={sum.wantedCpu} all={sum.cpu} text={coresOf} />
        <Share label="memory" wanted={sum.wantedMemory} all={sum.memory} text={memory} />
        {gpus || wantedGpus ? <Share label="GPUs" wanted={wantedGpus} all={gpus} text={count} /> : null}
      </dl>
      {interactive ? null : (
        <p class="fine fail-text">A cluster of this size shows its first cycles immediately; the rest takes a while.</p>
      )}
    </>
  );
}

type ShareProps = { label: string; wanted: number; all: number; text: (of: number) => string };

function Share({ label, wanted, all, text }: ShareProps) {
  const share = all ? wanted / all : 0;
  return (
    <div class="gen-asked">
      <dt>{label}</dt>
      <dd>
        <span class="gen-meter" aria-hidden="true">
          <i class={share > 1 ? "over" : ""} style={{ width: `${Math.min(100, share * 100)}%` }} />
        </span>
        <span class="num">{`requests ${text(wanted)} of ${text(all)}`}</span>
        <b class={`num ${share > 1 ? "fail-text" : ""}`}>{`${Math.round(share * 100)}%`}</b>
      </dd>
    </div>
  );
}
