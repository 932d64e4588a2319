// Generate a cluster: pools and workloads by a recipe and a seed, with the totals beside it. In the workbench it
// becomes the draft or is added to it; on the start page it becomes a new one.

import { $, h, fill, icon, announce } from "../../lib/dom.js";
import { Editor } from "../../lib/editor.js";
import { count, cpu, memory, plural } from "../../lib/quantity.js";
import { FormField, showErrors, toFirst } from "./fields.js";
import { FormPanel } from "./panel.js";
/** @import { Socket } from "../../lib/socket.js" */
/** @import { Edit } from "../edit.js" */
/** @import { View } from "../view.js" */

const DRAFT_CHARACTERS = 3_900_000; // that a draft in the workbench may have
const FIRST = "small";
const AHEAD = { pools: 5, workloads: 4 }; // fields that are not folded
const NAMES = {
  pools: ["general", "compute", "memory", "gpu", "spot"],
  workloads: ["web", "api", "db", "report", "train", "agent"],
};
const NOUN = { pools: ["node pool", "Add a node pool"], workloads: ["workload", "Add workloads"] };

export class Generator extends FormPanel {
  #table = null;

  /**
   * `actions` are buttons: `[[label, act(generator), primary]…]`.
   *
   * @param {() => Socket} socket
   */
  constructor(socket, actions) {
    super();
    this.socket = socket;
    this.actions = actions;
  }

  async open() {
    this.#table ??= await this.socket().call("cluster.recipes", {});
    this.begin();
    this.rows = { pools: [], workloads: [] };
    this.lists = { pools: h("div", { class: "gen-rows" }), workloads: h("div", { class: "gen-rows" }) };
    this.summary = h("div", { class: "gen-summary" });
    this.state = h("span", { class: "dim fine", role: "status" });
    this.preview = new Editor({ label: "The first lines of its YAML", readOnly: true });
    const recipes = h(
      "select",
      {
        class: "field",
        "aria-label": "Begin with a recipe",
        onchange: (event) => {
          this.#load(event.target.value);
          this.draft();
        },
      },
      this.#table.recipes.map(({ name, title }) => h("option", { value: name, text: title })),
    );
    this.top = h("div", { class: "form-grid gen-top" });
    const list = (/** @type {string} */ what, /** @type {string} */ heading) =>
      h(
        "fieldset",
        null,
        h("legend", { text: heading }),
        this.lists[what],
        h(
          "button",
          {
            type: "button",
            class: "btn small",
            onclick: () => {
              this.#more(what).get("name").input.select();
              this.draft();
            },
          },
          icon("plus"),
          NOUN[what][1],
        ),
      );
    const buttons = this.actions.map(([label, act, primary]) =>
      h(
        "button",
        {
          type: "button",
          class: primary ? "btn primary" : "btn",
          "data-act": label,
          onclick: () => this.submit(() => this.#act(act)),
        },
        primary ? icon("check") : null,
        label,
      ),
    );
    const begin = h("label", null, h("span", { class: "dim", text: "Begin with" }), recipes);
    this.build({
      title: "Generate a cluster",
      heading: "What it makes",
      parts: [
        h("div", { class: "gen-begin" }, begin),
        this.top,
        list("pools", "Nodes"),
        list("workloads", "Workloads"),
      ],
      buttons,
      state: this.state,
      shown: [this.summary, this.preview.element],
    });
    this.#load(FIRST);
    recipes.focus();
    this.preview.enrich();
    await this.ask();
  }

  /** @param {string} name */
  #load(name) {
    const { recipe } = this.#table.recipes.find((row) => row.name === name);
    this.heads = new Map(this.#table.top.map((row) => [row.name, new FormField(row, recipe[row.name] ?? row.default)]));
    fill(
      this.top,
      [...this.heads.values()].map(({ element }) => element),
    );
    for (const what of ["pools", "workloads"]) {
      this.rows[what] = [];
      fill(this.lists[what]);
      for (const values of recipe[what]) this.#more(what, values);
      this.#empty(what);
    }
  }

  /** One more pool or workload; its fields by name. */
  #more(what, values) {
    const [noun] = NOUN[what];
    const taken = new Set(this.rows[what].map(({ fields }) => fields.get("name").value));
    const name = NAMES[what].find((one) => !taken.has(one)) ?? `${NAMES[what][0]}-${this.rows[what].length + 1}`;
    const given = values ?? { name };
    const fields = new Map(
      this.#table[what].map((row) => [row.name, new FormField(row, given[row.name] ?? row.default)]),
    );
    const elements = [...fields.values()].map(({ element }) => element);
    const more = h(
      "details",
      { class: "form-more", open: [...fields.values()].slice(AHEAD[what]).some((field) => !field.empty) || undefined },
      h("summary", { text: "More" }),
      h("div", { class: "form-grid" }, elements.slice(AHEAD[what])),
    );
    const entry = { fields };
    const drop = h(
      "button",
      {
        type: "button",
        class: "btn quiet square tiny gen-drop",
        "aria-label": `Take this ${noun} out`,
        title: `Take this ${noun} out`,
        onclick: () => {
          const at = this.rows[what].indexOf(entry);
          this.rows[what].splice(at, 1);
          element.remove();
          this.#empty(what);
          (
            this.rows[what][Math.min(at, this.rows[what].length - 1)]?.fields.get("name").input
            ?? $(":scope > .btn", this.lists[what].parentElement)
          ).focus();
          this.draft();
        },
      },
      icon("cross"),
    );
    const element = h(
      "div",
      { class: "gen-row", role: "group", "aria-label": noun },
      h("div", { class: "form-grid" }, elements.slice(0, AHEAD[what])),
      more,
      drop,
    );
    this.rows[what].push(entry);
    this.#empty(what);
    this.lists[what].append(element);
    if (what === "workloads") {
      const shape = fields.get("shape").input;
      const sizes = () => {
        for (const [field, size] of Object.entries(this.#table.shapes[shape.value] ?? {}))
          fields.get(field).placeholder = size;
      };
      shape.addEventListener("change", sizes);
      sizes();
    }
    return fields;
  }

  /** @param {string} what */
  #empty(what) {
    const list = this.lists[what];
    list.querySelector(".gen-none")?.remove();
    if (!this.rows[what].length)
      list.append(
        h("p", {
          class: "gen-none dim fine",
          text:
            what === "pools"
              ? "No nodes yet: a cluster needs at least one pool."
              : "No workloads: only nodes, to which you can add your own.",
        }),
      );
  }

  get recipe() {
    const texts = (fields) => Object.fromEntries([...fields].map(([name, field]) => [name, field.value]));
    return {
      ...texts(this.heads),
      pools: this.rows.pools.map(({ fields }) => texts(fields)),
      workloads: this.rows.workloads.map(({ fields }) => texts(fields)),
    };
  }

  /** All fields by the names that problems have: `pools.0.cpu`. */
  get #fields() {
    const all = new Map(this.heads);
    for (const what of ["pools", "workloads"])
      this.rows[what].forEach(({ fields }, i) => {
        for (const [name, field] of fields) all.set(`${what}.${i}.${name}`, field);
      });
    return all;
  }

  request() {
    return this.socket().call("cluster.generate", { recipe: this.recipe });
  }

  failed(error) {
    this.answer = null;
    super.failed(error);
  }

  show(answer) {
    super.show(answer);
    const general = showErrors(this.#fields, answer.errors);
    fill(
      this.problems,
      general.map((text) => h("p", { class: "stale-text", text })),
    );
    const part = answer.shown < answer.documents ? `, the first ${count(answer.shown)} shown` : "";
    this.state.textContent = answer.errors.length
      ? plural(answer.errors.length, "error")
      : `${plural(answer.documents, "document")}${part}`;
    if (answer.errors.length) return; // what was there last stays in view until it is mended
    this.preview.value = answer.bundle;
    fill(this.summary, this.#figures(answer.summary));
  }

  /** Millicores of a whole cluster: nobody reads the last cores of hundreds. */
  #cores(milli) {
    return cpu(milli >= 10_000 ? Math.round(milli / 1000) * 1000 : milli);
  }

  #figures({ nodes, cpu: cores, memory: bytes, gpus, pods, wantedCpu, wantedMemory, wantedGpus, rows, interactive }) {
    const asked = (label, wanted, all, show) => {
      const share = all ? wanted / all : 0;
      return h(
        "div",
        { class: "gen-asked" },
        h("dt", { text: label }),
        h(
          "dd",
          null,
          h(
            "span",
            { class: "gen-meter", "aria-hidden": "true" },
            h("i", { class: share > 1 ? "over" : "", style: { width: `${Math.min(100, share * 100)}%` } }),
          ),
          h("span", { class: "num", text: `${show(wanted)} of ${show(all)} asked for` }),
          h("b", { class: `num ${share > 1 ? "fail-text" : ""}`, text: `${Math.round(share * 100)}%` }),
        ),
      );
    };
    return [
      h(
        "p",
        { class: "gen-line", role: "status" },
        h("b", { text: plural(nodes, "node") }),
        `, ${this.#cores(cores)} cpu, ${memory(bytes)} memory${gpus ? `, ${plural(gpus, "GPU")}` : ""}; `,
        h("b", { text: plural(pods, "pod") }),
        rows.length ? ` of ${rows.map(([name, n]) => `${name} (${count(n)})`).join(", ")}` : "",
      ),
      h(
        "dl",
        null,
        asked("cpu", wantedCpu, cores, this.#cores),
        asked("memory", wantedMemory, bytes, memory),
        gpus || wantedGpus ? asked("GPUs", wantedGpus, gpus, count) : null,
      ),
      interactive
        ? null
        : h("p", {
            class: "fine fail-text",
            text: "A cluster of this size shows its first cycles immediately; the rest takes a while.",
          }),
    ];
  }

  refused({ errors }) {
    toFirst(this.#fields, errors);
    if (errors.length) announce(`Nothing was generated: ${plural(errors.length, "error")}.`);
    return errors.length > 0;
  }

  apply() {
    return this.#act(this.actions[0][1]);
  }

  /** @param {(generator: Generator) => void | Promise<void>} act */
  async #act(act) {
    await act(this);
    this.box.close();
    $("#main").focus({ preventScroll: true }); // where it shows, and where the keys step
  }

  rejected(problems) {
    super.rejected(problems);
    this.problems.scrollIntoView({ block: "nearest" });
  }

  /** The whole text. Raises what the server finds wrong with all of it. */
  async whole() {
    const { bundle, errors } = await this.socket().call("cluster.generate", { recipe: this.recipe, whole: "true" });
    if (errors.length) throw Object.assign(new Error(errors[0].message), { body: { errors } });
    return bundle;
  }

  /** Make a draft of it and go there. */
  async create() {
    const { url } = await this.socket().call("cluster.create", { recipe: this.recipe });
    location.assign(url);
    await new Promise(() => {}); // the page is being left
  }
}

export class Generate extends Generator {
  /**
   * @param {View} view
   * @param {Edit | null} edit
   */
  constructor(view, edit) {
    super(
      () => view.playback.socket,
      [
        ["Replace this draft", (generator) => this.#replace(generator), true],
        ["Add to this draft", (generator) => this.#add(generator)],
      ],
    );
    this.view = view;
    this.edit = edit;
  }

  #words() {
    const { nodes, pods } = this.answer.summary;
    return `a generated cluster of ${plural(nodes, "node")} and ${plural(pods, "pod")}`;
  }

  async #replace(generator) {
    const text = await generator.whole();
    if (text.length > DRAFT_CHARACTERS) {
      await generator.create();
      return;
    }
    await this.edit.replace(text, this.#words());
    this.edit.notify(`The draft is ${this.#words()} now.`);
  }

  async #add(generator) {
    const documents = await generator.whole();
    await this.edit.operate({ documents }, "bundle.add");
    this.edit.notify(`Added: ${this.#words()}.`);
  }
}
