// Policy: what the scheduler runs, in order; on one's own draft with switches that rewrite one document of its text.

import { h, fill, icon, toast } from "../lib/dom.js";
import { count } from "../lib/quantity.js";
import { CACHE_SETTINGS } from "./cache_settings.js";
import { costs } from "./comments.js";
import { segmented } from "./inspect/matrix.js";
import { CUSTOM, customForm } from "./policyforms.js";
import { movable, moved, movers } from "./policyorder.js";
import { Profiles } from "./policyprofiles.js";
import { PolicyText } from "./policytext.js";
import { weightControl } from "./policyweight.js";

const SETTINGS = [
  [
    "predicateOrder",
    "Static order of predicates",
    [
      ["v1.11", "v1.11 (21)"],
      ["proposal", "proposal (16)"],
    ],
  ],
  [
    "quirks",
    "Quirks of v1.11",
    [
      ["v1.11", "as in v1.11"],
      ["fixed", "fixed"],
    ],
  ],
];
const REFERENCE = "/reference/predicates/";
const CACHE_REFERENCE = "/reference/cache/";

const DOCUMENTS_KEPT = 20;
const NEVER = "Configured, but v1.11 never evaluates it: its name is not in the static order. Given a place, it runs";
/** What the settings say, which are another document than the one that is typed. */
const SETTLED = (profile) =>
  Object.fromEntries(
    ["cache", "equivalenceClass", "audit", "staleWrites", "quirks", "predicateOrder"].map((key) => [
      key,
      profile?.[key],
    ]),
  );

export class Policy {
  #catalogue = null;
  #profiles = new Map(); // by the number of changes that led to it
  #busy = false;
  #shown = "";
  #reveal = ""; // the part to bring into view once it is drawn
  #here = false; // a change lands after the cycle on screen, not at the start
  #documents = new Map(); // PolicyText by the step that it is of, "" for the start

  constructor(view, options) {
    this.view = view;
    this.options = options; // {mine, canFork, onFork, text(), change(make, how), dirty(), undo, onText()}
    this.status = h("p", { class: "policy-status", role: "status" });
    this.body = h("div", { class: "policy-body" });
    this.text = new PolicyText({
      check: (text) =>
        view.playback.socket.call("policy.check", {
          text,
          order: this.#inForce?.predicateOrder ?? "v1.11",
          quirks: this.#inForce?.quirks ?? "v1.11",
        }),
      unwritten: () => (this.#inForce ? asPolicy(this.#inForce) : ""),
      apply: (text, based) => this.#write(text, based),
      seen: () => this.options.text(),
      changed: () => {
        this.#shown = "";
        this.update();
      },
    });
    this.profiles = new Profiles({
      change: (...change) => this.#change(...change),
      ask: (...change) => this.#ask(...change),
      redraw: () => {
        this.#shown = "";
        this.update();
      },
    });
    this.element = h(
      "div",
      { class: "policy" },
      h("div", { class: "policy-columns" }, this.body, this.text.element),
      this.status,
    );
    view.playback.on("opened", () => {
      this.#profiles.clear();
      this.#documents.clear();
      this.#shown = "";
      this.update();
    });
    view.playback.on("step", () => this.update());
    view.on("edits", () => this.update());
  }

  get #number() {
    return this.view.playback.current?.policy ?? 0;
  }

  /** The profile in force at the shown cycle, null while it is on its way. */
  get #inForce() {
    const number = this.#number;
    return number ? (this.#profiles.get(number) ?? null) : this.view.playback.policy;
  }

  /** Where a change lands: "" is the start, else after this step; null where it cannot be made. */
  get #moment() {
    if (this.#here && this.view.playback.index > 0) return this.view.playback.current?.step ?? null;
    return this.#number ? null : "";
  }

  /** The document that the controls are about, null while it is on its way. */
  get #document() {
    return this.#documents.get(this.#moment ?? `~${this.#number}`) ?? null;
  }

  /**
   * What the controls show: what is typed where it is valid, what a change after this cycle would change, or what is in
   * force.
   */
  get #profile() {
    const { known } = this.text;
    if (known?.profile) return { ...this.#inForce, ...known.profile, ...SETTLED(this.#inForce) };
    return this.#here && this.#moment ? (this.#document?.profile ?? null) : this.#inForce;
  }

  async #load() {
    const { playback } = this.view;
    const { socket, source, index } = playback;
    const number = this.#number;
    this.#catalogue ??= await socket.call("policy.catalogue", {});
    if (number && !this.#profiles.has(number))
      this.#profiles.set(
        number,
        (await playback.ask("cycle.get", { source, step: String(index), parts: ["policy"] })).policy,
      ); // the step's own parts overtake it
    if (this.#document) return;
    // What was in force right before it.
    const step = this.#moment ?? (await playback.ask("cycle.get", { source, step: String(index - 1), parts: [] })).step;
    const key = this.#moment ?? `~${number}`;
    this.#documents.set(key, await socket.call("policy.text", { source, ...(step ? { step } : {}) }));
    if (this.#documents.size > DOCUMENTS_KEPT) this.#documents.delete(this.#documents.keys().next().value);
  }

  /** Draw what is in force at the shown cycle, if the tab is open and it is another than is drawn. */
  async update() {
    if (!this.element.isConnected || !this.view.playback.policy) return;
    const { playback } = this.view;
    const key = [
      this.#moment,
      this.#number,
      this.#here && playback.index,
      playback.index > 0,
      this.#editable,
      this.options.undo.depth,
      this.options.undo.last,
      this.options.dirty(),
    ].join("/");
    if (key === this.#shown) return;
    if (!this.#catalogue || !this.#profile || !this.#document) {
      const loading = (this.#loading ??= this.#load());
      try {
        await loading;
      } catch (error) {
        if (error.code !== "request.superseded")
          fill(this.body, h("p", { class: "note error", text: `The policy could not be loaded: ${error.message}` }));
        return;
      } finally {
        if (this.#loading === loading) this.#loading = null;
      }
      await this.update();
      return;
    }
    this.#shown = key;
    this.#draw(this.#profile);
  }

  #loading = null; // what is being loaded

  get #editable() {
    return this.options.mine && this.#moment !== null && !this.options.dirty() && !this.text.wrong;
  }

  /** Whether settings can be changed: they are in another document than the one that is typed. */
  get #settable() {
    return this.#editable && !this.text.dirty;
  }

  #draw(profile) {
    const focused = document.activeElement?.closest?.("[data-control]")?.dataset.control;
    const scrolled = this.element.parentElement?.scrollTop;
    const answer = this.text.known?.profile ? this.text.known : this.#document;
    const editable = this.options.mine && this.#moment !== null && !this.options.dirty();
    this.text.show(this.#document, editable);
    this.text.form(
      answer.other,
      this.#editable,
      (kind, version) => this.#change("form", kind, version, `written as a ${kind}`),
      this.#catalogue.versions,
    );
    this.framework = answer.framework;
    fill(
      this.body,
      this.#head(profile),
      this.framework ? this.profiles.draw(this.framework, this.#catalogue, this.#editable) : null,
      this.#settings(profile),
      this.#cache(profile),
      this.#predicates(profile),
      this.#priorities(profile),
    );
    if (scrolled) this.element.parentElement.scrollTop = scrolled;
    if (this.#reveal) this.#show(this.#reveal);
    else if (focused) this.#focus(focused);
  }

  /** Bring a part into view, "cache" so far, and put the focus there, at once or when it is drawn. */
  reveal(part) {
    this.#reveal = part;
    if (this.#shown && this.#profile) this.#show(part);
  }

  #show(part) {
    const found = this.body.querySelector(`[data-part="${CSS.escape(part)}"]`);
    if (!found?.isConnected) return;
    this.#reveal = "";
    const box = this.element.parentElement; // alone: in a small frame the page itself would be scrolled too
    box.scrollTop += found.getBoundingClientRect().top - box.getBoundingClientRect().top;
    (found.querySelector("[data-control]:not(:disabled)") ?? found.querySelector("h3")).focus({ preventScroll: true });
  }

  /** What was switched off may have gone to a list that is closed: then the focus goes to its heading. */
  #focus(control) {
    const found = this.body.querySelector(`[data-control="${CSS.escape(control)}"]`);
    const closed = found?.closest("details:not([open])");
    (closed?.querySelector("summary") ?? found)?.focus({ preventScroll: true });
  }

  #head(profile) {
    const { mine, canFork, onFork, onText } = this.options;
    const written = this.#document?.kind
      ? `This scenario's ${this.#document.kind}.`
      : "No Policy of its own: the DefaultProvider’s predicates and priorities.";
    const notes = [];
    if (this.#number && !this.#moment)
      notes.push(
        h(
          "div",
          { class: "note" },
          icon("warn"),
          h(
            "div",
            null,
            h("strong", { text: "The scheduler was restarted before this cycle." }),
            h("p", {
              text:
                "This is what it runs since. An operation of the scenario put it in force; to change it, edit the "
                + "operation, or let changes land after this cycle.",
            }),
            h(
              "button",
              { type: "button", class: "btn small", onclick: () => this.view.playback.goto(0) },
              "To the policy at the start",
            ),
          ),
        ),
      );
    else if (!mine)
      notes.push(
        h(
          "div",
          { class: "note" },
          h("span", {
            class: "grow",
            text: canFork
              ? "This scenario never changes. Fork it to change its policy."
              : "This scenario is read-only.",
          }),
          canFork
            ? h(
                "button",
                { type: "button", class: "btn", "data-policy-fork": true, onclick: onFork },
                icon("fork"),
                "Fork to change",
              )
            : null,
        ),
      );
    else if (this.options.dirty())
      notes.push(
        h(
          "div",
          { class: "note" },
          icon("warn"),
          h(
            "div",
            null,
            h("p", { text: "The YAML has changes that are not applied. Apply or discard them first." }),
            h("button", { type: "button", class: "btn small", onclick: onText }, "To the YAML"),
          ),
        ),
      );
    const { index } = this.view.playback;
    return [
      h(
        "div",
        { class: "policy-head" },
        h("span", {
          class: "dim",
          text:
            this.#here && this.#moment
              ? `After cycle ${count(index)}`
              : this.#number
                ? "In force at this cycle"
                : written,
        }),
      ),
      mine && index > 0
        ? h(
            "div",
            { class: "policy-when" },
            h("span", { class: "dim", text: "Changes land" }),
            segmented(
              "Changes land",
              [
                ["start", "at the start"],
                ["here", `after cycle ${count(index)}`],
              ],
              this.#here ? "here" : "start",
              (when) => {
                this.#here = when === "here";
                this.update();
              },
            ),
          )
        : null,
      this.#here && this.#moment
        ? h("p", {
            class: "dim fine",
            text:
              "An operation restarts the scheduler: its queue is sorted anew, its caches are empty, "
              + "its counter of ties begins at 0.",
          })
        : null,
      notes,
      profile.warnings.map((text) => h("div", { class: "note warning" }, icon("warn"), h("span", { text }))),
    ];
  }

  #settings(profile) {
    return h(
      "section",
      { class: "policy-part", "aria-label": "Settings" },
      SETTINGS.map(([key, label, choices]) =>
        h(
          "label",
          { class: "policy-setting" },
          h("span", { text: label }),
          h(
            "select",
            {
              class: "field",
              "data-control": key,
              disabled: !this.#settable || undefined,
              onchange: (event) =>
                this.#change("setting", key, event.target.value, `${label}: ${event.target.selectedOptions[0].text}`),
            },
            choices.map(([value, text]) => h("option", { value, text, selected: value === profile[key] || undefined })),
          ),
        ),
      ),
      this.#switch(
        "alwaysCheckAllPredicates",
        "Check all predicates on every node",
        profile.alwaysCheckAllPredicates,
        (on) =>
          this.#change("flag", "alwaysCheckAllPredicates", String(on), `check all predicates: ${on ? "on" : "off"}`),
        "policy-setting",
      ),
      h(
        "label",
        {
          class: "policy-setting",
          title: "hardPodAffinitySymmetricWeight: what a required affinity term of another pod weighs",
        },
        h("span", { text: "Weight of required affinity" }),
        this.#count("hard", profile.hardPodAffinitySymmetricWeight, 1, 100, (value) =>
          this.#change("number", "hardPodAffinitySymmetricWeight", value, `hardPodAffinitySymmetricWeight ${value}`),
        ),
      ),
    );
  }

  /** The equivalence cache: each setting with what its choice does, or why it does nothing. */
  #cache(profile) {
    return h(
      "section",
      { class: "policy-part", "aria-labelledby": "policy-cache", "data-part": "cache" },
      h(
        "h3",
        { id: "policy-cache", tabindex: "-1" },
        "Equivalence cache ",
        h("a", { class: "fine", href: CACHE_REFERENCE, text: "what it is" }),
      ),
      CACHE_SETTINGS.map((setting) => this.#cacheSetting(setting, profile)),
    );
  }

  #cacheSetting({ key, label, choices, idle }, profile) {
    const value = String(profile[key]);
    const without = idle(profile);
    const about = `policy-${key}-does`;
    const shared = {
      "data-control": key,
      "aria-describedby": about,
      disabled: !this.#settable || Boolean(without) || undefined,
    };
    const change = (to) => this.#change("setting", key, to, `${label}: ${choices.find(([name]) => name === to)[1]}`);
    const control =
      choices[0][0] === "true"
        ? h("input", {
            type: "checkbox",
            role: "switch",
            class: "switch",
            checked: value === "true" || undefined,
            onchange: (event) => change(String(event.target.checked)),
            ...shared,
          })
        : h(
            "select",
            { class: "field", onchange: (event) => change(event.target.value), ...shared },
            choices.map(([name, text]) => h("option", { value: name, text, selected: name === value || undefined })),
          );
    return [
      h("label", { class: "policy-setting" }, h("span", { text: label }), control),
      h("p", {
        class: "policy-does dim",
        id: about,
        text: without || (choices.find(([name]) => name === value)?.[2] ?? ""),
      }),
    ];
  }

  #predicates(profile) {
    const rows = new Map(this.#catalogue.predicates.map((row) => [row.key, row]));
    const off = this.#catalogue.predicates.filter(
      ({ key }) => !profile.predicates.includes(key) && !profile.neverRun.includes(key),
    );
    const bundled = (row) => row.bundle && profile.predicates.includes(row.bundle);
    const orders = this.#editable && !this.framework;
    const order = (keys, words) => this.#change("order", profile.predicateOrder, JSON.stringify(keys), words);
    const list = h(
      "ol",
      { class: "policy-rows" },
      profile.predicates.map((key, at) =>
        this.#row(
          key,
          rows.get(key),
          String(at + 1),
          true,
          profile,
          null,
          orders ? movers(key, at, profile.predicates.length) : null,
        ),
      ),
    );
    if (orders)
      movable(list, (from, to) =>
        order(moved(profile.predicates, from, to), `${profile.predicates[from]} at place ${to + 1}`),
      );
    const never = (key) => [
      h("span", { class: "pill fail", title: NEVER, text: "never run" }),
      orders
        ? h("button", {
            type: "button",
            class: "btn small",
            title: NEVER,
            "data-control": `run:${key}`,
            onclick: () => order([...profile.predicates, key], `${key} runs last`),
            text: "Run it",
          })
        : null,
    ];
    return h(
      "section",
      { class: "policy-part", "aria-labelledby": "policy-predicates" },
      h(
        "h3",
        { id: "policy-predicates" },
        "Predicates ",
        h("small", { class: "dim", text: `${profile.predicates.length} in this order` }),
      ),
      this.#orderNote(profile, orders, order),
      list,
      profile.neverRun.length
        ? h(
            "ul",
            { class: "policy-rows" },
            profile.neverRun.map((key) => this.#row(key, rows.get(key), "–", true, profile, never(key))),
          )
        : null,
      this.#adder("predicates"),
      h(
        "details",
        {
          open: this.offOpen || undefined,
          ontoggle: (event) => {
            this.offOpen = event.target.open;
          },
        },
        h("summary", { "data-control": "unused:predicates", text: `Not in use: ${off.length}` }),
        h(
          "ul",
          { class: "policy-rows" },
          off.map((row) =>
            this.#row(
              row.key,
              row,
              "",
              false,
              profile,
              bundled(row)
                ? h("span", { class: "pill", text: `in ${row.bundle}` })
                : row.argument
                  ? (this.#custom({ list: "predicates", name: row.key }, "Add…")
                    ?? h("span", { class: "pill", title: row.argument, text: "needs an argument" }))
                  : null,
            ),
          ),
        ),
      ),
    );
  }

  /** What the order does, and what it does not. */
  #orderNote(profile, orders, order) {
    const effect = profile.alwaysCheckAllPredicates
      ? "Every predicate is checked on every node, so the order decides only in which order reasons are listed."
      : "A node’s first failure ends its way: the order decides which checks are saved and which reasons are counted, "
        + "not which nodes fit.";
    const where =
      " A predicate with an order comes first, ascending; the others follow in the static order that is chosen above.";
    const asStatic = this.#staticOrder(profile);
    if (this.framework) return this.#orderOfPlugins(effect);
    return [
      h("p", { class: "dim fine", text: effect + where }),
      orders && asStatic.join() !== profile.predicates.join()
        ? h(
            "button",
            {
              type: "button",
              class: "btn small",
              "data-control": "static",
              onclick: () => order(asStatic, "the static order"),
            },
            "Back to the static order",
          )
        : null,
    ];
  }

  /** Why predicates cannot be moved here, and what can be done. */
  #orderOfPlugins(effect) {
    return [
      h("p", { class: "dim fine", text: effect }),
      h(
        "div",
        { class: "note" },
        icon("help"),
        h(
          "div",
          null,
          h("p", {
            text:
              "A KubeSchedulerConfiguration orders plugins, and a predicate runs where its plugin stands at filter: "
              + "move the plugins above, or write it as a Policy, which gives each predicate an order of its own.",
          }),
          this.#editable
            ? h("button", {
                type: "button",
                class: "btn small",
                "data-control": "to-policy",
                onclick: () => this.#change("form", "Policy", "", "written as a Policy"),
                text: "Order them in a Policy",
              })
            : null,
        ),
      ),
    ];
  }

  /** The predicates as the static order has them; what it does not have stays behind. */
  #staticOrder({ predicates, predicateOrder }) {
    const rows = new Map(this.#catalogue.predicates.map((row) => [row.key, row]));
    const place = (key) => (predicateOrder === "proposal" ? rows.get(key)?.runs : rows.get(key)?.place) ?? Infinity;
    return [...predicates].sort((a, b) => (place(a) === place(b) ? 0 : place(a) - place(b)));
  }

  /** A button for a form of arguments; null where nothing can be changed. */
  #custom(given, text) {
    if (!this.#editable || this.framework) return null;
    return h("button", {
      type: "button",
      class: "link fine",
      "data-control": `argument:${given.name ?? given.list}`,
      "aria-label": given.name ? `${text.replace("…", "")} ${given.name}` : undefined,
      onclick: () => customForm(given, (name, value) => this.#ask("argument", name, value, `${name} with an argument`)),
      text,
    });
  }

  #adder(list) {
    const button = this.#custom({ list }, "Add one with an argument…");
    return button ? h("div", { class: "policy-add" }, button) : null;
  }

  #row(key, row, place, on, profile, mark = null, move = null) {
    const argument = profile.arguments[key];
    const fixed = row?.mandatory || (!on && row?.argument);
    const alias = row?.alias && row.alias !== key ? row.alias : "";
    return h(
      "li",
      { class: on ? "" : "off", "data-name": key },
      move?.handle ?? null,
      h("span", { class: "place num", text: place }),
      h(
        "div",
        { class: "what" },
        h("a", { class: "name", href: `${REFERENCE}#${key}`, title: row?.text ?? "" }, byWord(key)),
        h(
          "small",
          { class: "dim" },
          byWord(
            [row?.members.length ? row.members.join(", ") : "", alias ? `also ${alias}` : ""]
              .filter(Boolean)
              .join(" · "),
          ),
        ),
        argument
          ? h(
              "small",
              { class: "dim argued" },
              `${brief(argument)} `,
              CUSTOM.some(({ kind }) => kind in argument)
                ? this.#custom({ list: "predicates", name: key, argument }, "Change")
                : null,
            )
          : null,
      ),
      mark,
      move?.buttons ?? null,
      fixed
        ? row.mandatory
          ? h("span", { class: "pill accent", title: "v1.11 adds it to every policy", text: "always" })
          : null
        : this.#switch(
            `predicate:${key}`,
            `${key}: ${on ? "in use" : "not in use"}`,
            on,
            (value) => this.#change("predicate", key, value ? "on" : "off", `${key} ${value ? "on" : "off"}`),
            "",
            true,
          ),
    );
  }

  #priorities(profile) {
    const rows = new Map(this.#catalogue.priorities.map((row) => [row.name, row]));
    const used = new Set(profile.priorities.map(([name]) => name));
    const off = this.#catalogue.priorities.filter(({ name }) => !used.has(name));
    const row = (name, weight) => {
      const argument = profile.arguments[name];
      return h(
        "li",
        { class: weight ? "" : "off" },
        h(
          "div",
          { class: "what" },
          h("a", { class: "name", href: `${REFERENCE}#${name}`, title: rows.get(name)?.text ?? "" }, byWord(name)),
          h("small", { class: "dim", text: rows.get(name)?.kind ?? "" }),
          argument
            ? h(
                "small",
                { class: "dim argued" },
                `${brief(argument)} `,
                CUSTOM.some(({ kind }) => kind in argument)
                  ? this.#custom({ list: "priorities", name, argument, weight }, "Change")
                  : null,
              )
            : null,
        ),
        weightControl({
          control: `weight:${name}`,
          name,
          weight,
          editable: this.#editable,
          wrong: (text) => this.#say(text, true),
          act: (value) => this.#change("priority", name, value, `${name} ${value === "0" ? "off" : `weight ${value}`}`),
        }),
      );
    };
    const provider = h(
      "select",
      {
        class: "field",
        "aria-label": "Take a provider’s",
        "data-control": "provider",
        disabled: !this.#editable || Boolean(this.framework) || undefined,
        onchange: (event) => {
          if (event.target.value) this.#change("provider", "", event.target.value, `the ${event.target.value}`);
        },
      },
      h("option", { value: "", text: "Take a provider’s…" }),
      this.#catalogue.providers.map((name) => h("option", { value: name, text: name })),
    );
    return h(
      "section",
      { class: "policy-part", "aria-labelledby": "policy-priorities" },
      h(
        "h3",
        { id: "policy-priorities" },
        "Priorities ",
        h("small", { class: "dim", text: used.size ? "by weight; 0 takes one out" : "none: every node counts 1" }),
      ),
      this.framework
        ? null
        : h(
            "div",
            { class: "policy-setting" },
            h("span", { class: "dim", text: "Predicates and priorities of" }),
            provider,
          ),
      h(
        "ul",
        { class: "policy-rows weights" },
        profile.priorities.map(([name, weight]) => row(name, weight)),
      ),
      this.#adder("priorities"),
      h(
        "details",
        {
          open: this.unusedOpen || undefined,
          ontoggle: (event) => {
            this.unusedOpen = event.target.open;
          },
        },
        h("summary", { "data-control": "unused:priorities", text: `Not in use: ${off.length}` }),
        h(
          "ul",
          { class: "policy-rows weights" },
          off.map(({ name }) => row(name, 0)),
        ),
      ),
    );
  }

  /** A switch; `bare` shows no label, the row tells what it is for. */
  #switch(control, label, on, act, className = "", bare = false) {
    const box = h("input", {
      type: "checkbox",
      role: "switch",
      class: "switch",
      "data-control": control,
      checked: on || undefined,
      disabled: !this.#editable || undefined,
      "aria-label": bare ? label.split(":")[0] : undefined,
      onchange: (event) => act(event.target.checked),
    });
    return bare ? box : h("label", { class: className }, h("span", { text: label }), box);
  }

  #count(control, value, min, max, act, label) {
    return h("input", {
      type: "number",
      class: "field weight num",
      inputmode: "numeric",
      min,
      max,
      step: 1,
      value,
      "data-control": control,
      "aria-label": label,
      disabled: !this.#editable || undefined,
      onchange: (event) => {
        const field = event.target;
        if (field.checkValidity() && field.value !== "") {
          act(String(Number(field.value)));
          return;
        }
        this.#say(`${label ?? "The weight"}: a whole number from ${min} to ${max}.`, true);
        field.value = value;
      },
    });
  }

  // ---- changing

  async #change(what, key, value, words) {
    if (this.#busy) return;
    this.#lock(true);
    const wrong = await this.#ask(what, key, value, words);
    if (wrong) this.#say(wrong, true);
    this.#lock(false);
  }

  /** Make a change; what is wrong with it, or "". What is typed and not applied is changed as text. */
  async #ask(what, key, value, words) {
    const { playback } = this.view;
    try {
      if (this.text.dirty) {
        const { text } = await playback.socket.call("policy.change", { text: this.text.text, what, key, value });
        await this.text.take(text);
        this.#say(`In the text: ${words}. Apply the text to put it in force.`);
        return "";
      }
      const step = this.#moment;
      await this.#make(
        (text) => playback.socket.call("bundle.configure", { text, what, key, value, ...(step ? { step } : {}) }),
        words,
      );
      return "";
    } catch (error) {
      return error.body?.errors?.[0]?.message ?? error.message;
    }
  }

  async #make(make, words, based) {
    const at = this.#moment ? this.view.playback.index : 0;
    const { text, before, rewritten } = await this.options.change(make, { words, based });
    if (text !== before) {
      await this.update(); // who hears that it is changed goes on from what is drawn
      const cost = costs(before, text, rewritten).trim();
      if (cost) toast(cost, { name: "warn", ms: 7000 });
    }
    this.#say(
      at
        ? `After cycle ${count(at)}: ${words}. It shows from cycle ${count(at + 1)} on.`
        : `Changed: ${words}. The simulation starts anew.`,
    );
  }

  /** Put a text that was typed in force, throwing what is wrong with it. */
  async #write(documents, based) {
    if (this.#busy) return;
    this.#lock(true);
    try {
      const step = this.#moment;
      await this.#make(
        (text) => this.view.playback.socket.call("bundle.add", { text, documents, ...(step ? { step } : {}) }),
        "the policy’s text",
        based,
      );
    } finally {
      this.#lock(false);
    }
  }

  #lock(busy) {
    this.#busy = busy;
    this.element.toggleAttribute("aria-busy", busy);
    this.element.classList.toggle("busy", busy);
    if (!busy) {
      this.#shown = "";
      this.update();
    }
  }

  /** Shown, and said: it is a status. */
  #say(text, wrong = false) {
    this.status.textContent = text;
    this.status.classList.toggle("wrong", wrong);
  }
}

/** A name that breaks before its capitals, not in the middle of a word. */
const byWord = (name) => name.split(/(?<=[a-z0-9])(?=[A-Z])/).map((part, i) => [i ? h("wbr") : null, part]);

/** What runs without a document, as the Policy that says the same. */
const asPolicy = ({ predicates, priorities }) =>
  [
    "apiVersion: v1",
    "kind: Policy",
    "predicates:",
    ...predicates.map((name) => `- name: ${name}`),
    "priorities:",
    ...priorities.map(([name, weight]) => `- name: ${name}\n  weight: ${weight}`),
    "",
  ].join("\n");

/** An argument in short: `zone, rack` or `disk`. */
function brief(argument) {
  const [kind, body] = Object.entries(argument)[0] ?? ["", {}];
  const of =
    body.labels?.join(", ")
    ?? body.label
    ?? body.shape?.map(({ utilization = 0, score = 0 }) => `${utilization}→${score}`).join(" ")
    ?? "";
  return `${kind}: ${of}${body.presence === false ? " (absent)" : ""}`;
}
