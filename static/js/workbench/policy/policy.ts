// Policy: what the scheduler runs, in order; on one's own draft with switches that rewrite one document of its text.

import { $, h, toast } from "../../lib/dom.ts";
import { count } from "../../lib/quantity.ts";
import { refusalOf, superseded } from "../../lib/socket.ts";
import { costs } from "../draft/comments.ts";
import { drawFailure, drawParts } from "./parts.tsx";
import { PolicyText } from "./text.tsx";
import { follow } from "../playback/store.ts";
import type { Catalogue, Policy as Profile, PolicyDocument } from "../../lib/protocol.js";
import type { PolicyForm, Refusal } from "./form.ts";
import type { Landing } from "./head.tsx";
import type { PolicyOptions } from "./options.ts";
import type { View } from "../view/view.ts";

const DOCUMENTS_KEPT = 20;
/** What the settings hold, which are another document than the one that is typed. */
const SETTLED = (profile: Profile | null) =>
  Object.fromEntries(
    (["cache", "equivalenceClass", "audit", "staleWrites", "quirks", "predicateOrder"] as (keyof Profile)[]).map(
      (key) => [key, profile?.[key]],
    ),
  );

export class Policy {
  status: HTMLParagraphElement;
  body: HTMLDivElement;
  text: PolicyText;
  element: HTMLDivElement;
  #catalogue: Catalogue | null = null;
  #profiles: Map<number, Profile> = new Map(); // by the number of changes that led to it
  #busy = false;
  #shown = "";
  #reveal = ""; // the part to bring into view once it is drawn
  #open: Set<string> = new Set(); // what is unfolded
  #here = false; // a change lands after the cycle on screen, not at the start
  #documents: Map<string, PolicyDocument> = new Map(); // by the step that it is of, "" for the start

  constructor(
    readonly view: View,
    readonly options: PolicyOptions,
  ) {
    this.status = h("p", { class: "policy-status", role: "status" });
    this.body = h("div", { class: "policy-body" });
    this.text = new PolicyText({
      check: (text) =>
        view.playback.socket.call("policy.check", {
          text,
          order: this.#inForce?.predicateOrder ?? "v1.11",
          quirks: this.#inForce?.quirks ?? "v1.11",
          ...this.#beside,
        }),
      unwritten: () => (this.#defaults ? DEFAULTS : this.#inForce ? asPolicy(this.#inForce) : ""),
      apply: (text, based) => this.#write(text, based),
      seen: () => this.options.text(),
      changed: () => {
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
    follow(view.store.scenario, () => {
      this.#profiles.clear();
      this.#documents.clear();
      this.#shown = "";
      this.update();
    });
    follow([view.store.step, view.store.edits], () => this.update());
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

  /** Whether plugins run without a configuration that names them: those of v1.37. */
  get #defaults() {
    return Boolean(this.#document && !this.#document.kind && this.#document.form);
  }

  /** The settings beside what is typed, by which v1.37 reads it. */
  get #beside() {
    const form = this.#document?.form;
    if (!form) return {};
    const gates = Object.entries(form.gates).map((gate) => gate.join("="));
    return { scheduler: form.scheduler, gates: gates.join(",") };
  }

  /**
   * What the controls show: what is typed where it is valid, what a change after this cycle would change, or what is in
   * force.
   */
  get #profile(): Profile | null {
    const { known } = this.text;
    const inForce = this.#inForce;
    const typed = known?.profile ?? (this.#defaults ? this.#document?.profile : null);
    if (typed || this.#defaults) return { ...inForce, ...typed, ...SETTLED(inForce) } as Profile;
    return this.#here && this.#moment ? (this.#document?.profile ?? null) : inForce;
  }

  async #load() {
    const { playback } = this.view;
    const { socket, source, index } = playback;
    const number = this.#number;
    this.#catalogue ??= await socket.call("policy.catalogue", {});
    if (number && !this.#profiles.has(number)) {
      // The step's own parts overtake it.
      const { policy } = await playback.ask("cycle.get", { source, step: String(index), parts: ["policy"] });
      if (policy) this.#profiles.set(number, policy);
    }
    if (this.#document) return;
    // What was in force right before it.
    const step = this.#moment ?? (await playback.address(Math.max(0, index - 1)));
    const key = this.#moment ?? `~${number}`;
    this.#documents.set(key, await socket.call("policy.text", { source, ...(step ? { step } : {}) }));
    const [oldest] = this.#documents.keys();
    if (this.#documents.size > DOCUMENTS_KEPT) this.#documents.delete(oldest);
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
        if (!superseded(error)) drawFailure(this.body, `The policy could not be loaded: ${refusalOf(error).message}`);
        return;
      } finally {
        if (this.#loading === loading) this.#loading = null;
      }
      await this.update();
      return;
    }
    this.#shown = key;
    this.#draw(this.#profile, this.#document, this.#catalogue);
  }

  #loading: Promise<void> | null = null; // what is being loaded

  get #editable() {
    return this.options.mine && this.#moment !== null && !this.options.dirty() && !this.text.wrong;
  }

  /** Whether settings can be changed: they are in another document than the one that is typed. */
  get #settable() {
    return this.#editable && !this.text.dirty;
  }

  #draw(profile: Profile, written: PolicyDocument, catalogue: Catalogue) {
    const focused = document.activeElement?.closest?.("[data-control]")?.dataset.control;
    const answer = this.text.known?.profile ? this.text.known : written;
    const editable = this.options.mine && this.#moment !== null && !this.options.dirty();
    /** @param kind @param {string} version */
    const turn = (kind: string, version: string) => this.#change("form", kind, version, `written as a ${kind}`);
    const { versions } = catalogue;
    const { other } = answer;
    this.text.show(written, editable, other && { other, editable: this.#editable, turn, versions });
    const { playback } = this.view;
    const { options } = this;
    drawParts(this.body, {
      form: this.#form(answer, catalogue),
      profile,
      answer,
      playback,
      place: this.#place,
      options,
    });
    if (this.#reveal) this.#show(this.#reveal);
    else if (focused && !document.activeElement?.closest("[data-control]")) this.#focus(focused);
  }

  /** Bring a part into view, "cache" or "schedulers", and put the focus there, at once or when it is drawn. */
  reveal(part: string) {
    this.#reveal = part;
    if (this.#shown && this.#profile) this.#show(part);
  }

  #show(part: string) {
    const found = this.body.querySelector(`[data-part="${CSS.escape(part)}"]`);
    if (!found?.isConnected) return;
    this.#reveal = "";
    // alone: in a small frame the page itself would be scrolled too
    const box = this.element.parentElement as HTMLElement;
    box.scrollTop += found.getBoundingClientRect().top - box.getBoundingClientRect().top;
    ($("[data-control]:not(:disabled)", found) ?? $("h3", found)).focus({ preventScroll: true });
  }

  /** What was switched off may have gone to a list that is closed: then the focus goes to its heading. */
  #focus(control: string) {
    const found = this.body.querySelector(`[data-control="${CSS.escape(control)}"]`);
    const closed = found?.closest("details:not([open])");
    (closed?.querySelector("summary") ?? found)?.focus({ preventScroll: true });
  }

  /** Where changes land, as the head shows it. */
  get #place(): Landing {
    const { playback } = this.view;
    return {
      index: playback.index,
      number: this.#number,
      moment: this.#moment,
      here: this.#here,
      kind: this.#document?.kind,
      defaults: this.#defaults,
      release: playback.release,
      restarted: this.#number > 0 && !this.#moment,
      land: (here) => {
        this.#here = here;
        this.update();
      },
      toStart: () => playback.goto(0),
    };
  }

  /** What the controls can do. */
  #form({ framework }: PolicyDocument, catalogue: Catalogue): PolicyForm {
    return {
      catalogue,
      framework,
      editable: this.#editable,
      settable: this.#settable,
      open: this.#open,
      change: (...change) => this.#change(...change),
      make: (...change) => this.#try(...change),
      ask: (...change) => this.#ask(...change),
      attempt: (...change) => this.#attempt(...change),
      say: (text, wrong) => this.#say(text, wrong),
    };
  }

  // ---- changing

  async #change(what: string, key: string, value: string, words: string) {
    const wrong = await this.#try(what, key, value, words);
    if (wrong) this.#say(wrong, true);
  }

  /** Make a change while nothing else can be; what is wrong with it, or "". */
  async #try(what: string, key: string, value: string, words: string) {
    if (this.#busy) return "";
    this.#lock(true);
    const wrong = await this.#ask(what, key, value, words);
    this.#lock(false);
    return wrong;
  }

  /** Make a change; what is wrong with it, or "". */
  async #ask(what: string, key: string, value: string, words: string) {
    const refusal = await this.#attempt(what, key, value, words);
    return refusal ? (refusal.errors[0]?.message ?? refusal.message) : "";
  }

  /**
   * Make a change; what is wrong with it, at which fields, or null. What is typed and not applied is changed as text.
   */
  async #attempt(what: string, key: string, value: string, words: string): Promise<Refusal | null> {
    const { playback } = this.view;
    try {
      if (this.text.dirty) {
        const asked = { text: this.text.text, what, key, value, ...this.#beside };
        const { text } = await playback.socket.call("policy.change", asked);
        await this.text.take(text);
        this.#say(`In the text: ${words}. Apply the text to put it in force.`);
        return null;
      }
      const step = this.#moment;
      await this.#make(
        (text) => playback.socket.call("bundle.configure", { text, what, key, value, ...(step ? { step } : {}) }),
        words,
      );
      return null;
    } catch (error) {
      const { message, body } = refusalOf(error);
      return { message, errors: (body?.errors ?? []) as Refusal["errors"] };
    }
  }

  async #make(make: (text: string) => Promise<{ text: string; rewritten?: boolean }>, words: string, based?: string) {
    const at = this.#moment ? this.view.playback.index : 0;
    const { text, before, rewritten } = await this.options.change(make, { words, based });
    if (text !== before) {
      await this.update(); // listeners go on from what is drawn
      const cost = costs(before, text, rewritten).trim();
      if (cost) toast(cost, { name: "warn", ms: 7000 });
    }
    this.#say(
      at
        ? `After cycle ${count(at)}: ${words}. It takes effect from cycle ${count(at + 1)}.`
        : `Changed: ${words}. The simulation restarts.`,
    );
  }

  /** Put a text that was typed in force, throwing what is wrong with it. */
  async #write(documents: string, based?: string) {
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

  #lock(busy: boolean) {
    this.#busy = busy;
    this.element.toggleAttribute("aria-busy", busy);
    this.element.classList.toggle("busy", busy);
    if (!busy) {
      this.#shown = "";
      this.update();
    }
  }

  /** Shown and announced: it is a status. */
  #say(text: string, wrong = false) {
    this.status.textContent = text;
    this.status.classList.toggle("wrong", wrong);
  }
}

/** What v1.37 runs without a document, as one. */
const DEFAULTS = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
`;

/** What runs without a document, as the equivalent Policy. */
const asPolicy = ({ predicates, priorities }: Profile) =>
  [
    "apiVersion: v1",
    "kind: Policy",
    "predicates:",
    ...predicates.map((name) => `- name: ${name}`),
    "priorities:",
    ...priorities.map(([name, weight]) => `- name: ${name}\n  weight: ${weight}`),
    "",
  ].join("\n");
