// Opening of the source that the page names, at the step of its address, and again after each change of the draft.

import { $, fill, h, icon, toast } from "../../lib/dom.ts";
import { refusalOf } from "../../lib/socket.ts";
import { Address, type Wish } from "../address/address.ts";
import type { Computing } from "./computing.tsx";
import type { Layout } from "../layout/layout.ts";
import type { Place } from "../playback/place.ts";
import type { View } from "../view/view.ts";
import { showApplied } from "../why/applied.ts";

export class Opening {
  /** Whether a step is shown: the browser tests wait for it. */
  ready = false;

  constructor(
    private readonly root: HTMLElement,
    private readonly view: View,
    private readonly layout: Layout,
    private readonly address: Address,
    private readonly computing: Computing,
  ) {}

  /** Open it at what the address asks for; whether that worked. */
  async open(wish: Wish): Promise<boolean> {
    const { view, address } = this;
    const { playback } = view;
    try {
      const { index } = await playback.open(wish.step, (report) => this.computing.loading(report));
      address.select(wish);
      if (wish.tab && this.layout.single) this.layout.show("inspect");
      const place = Address.place(wish);
      if (index === null) this.#startBefore(wish.step, place);
      else this.#start(index, place);
      if (index !== null && wish.step === "end") playback.awaitEnd();
      if (playback.complete && index !== null && Math.floor(Number(wish.step)) > index && !this.root.dataset.room)
        toast(`There is no step ${wish.step}; this is the last.`, { name: "warn", ms: 6000 });
      showApplied(playback.source.draft);
      if (wish.why) address.ask(wish);
      return true;
    } catch (error) {
      const { code, body, message } = refusalOf(error);
      if (wish.step && (code === "step.out-of-range" || body?.field === "step")) {
        toast(`There is no step ${wish.step.slice(0, 20)}; this is the start.`, { name: "warn", ms: 6000 });
        return this.open({ ...wish, step: "" });
      }
      this.computing.loaded();
      this.#refuse(message);
      return false;
    }
  }

  /** Simulate the draft again and stay at the same step, or at its end if it has become shorter. */
  async again() {
    const { pending, playback } = this.view;
    const at = playback.wantedCycle;
    const step = pending?.step ?? (at ? String(at) : "");
    try {
      const { index } = await playback.open(step, (report) => this.computing.loading(report));
      if (index === null) {
        this.#startBefore(step, pending?.place);
        return;
      }
      if (pending) {
        this.#start(index, pending.place);
        return;
      }
    } catch (error) {
      this.computing.loaded();
      if (refusalOf(error).code !== "step.out-of-range") throw error;
      await playback.open();
    }
    this.#start(Math.min(at, playback.cycles));
  }

  /** Start at the beginning, on the way to a step that is not computed yet. */
  #startBefore(step: string, place?: Partial<Place>) {
    const { store, playback } = this.view;
    store.pending.value = { step, place }; // what the address asks of it is not looked for at the start
    this.#start(0);
    playback.later({ step, place });
  }

  #start(index: number, place?: Partial<Place>) {
    this.view.playback.goto(index, undefined, place);
    this.ready = true;
    const runAll: HTMLElement | null = $("[data-run-all]");
    if (runAll) runAll.hidden = Boolean(this.view.playback.source.run);
  }

  #refuse(message: string) {
    fill($("[data-inspect]", this.root));
    this.root.classList.add("refused");
    fill(
      $("[data-stage]", this.root),
      h(
        "div",
        { class: "empty" },
        icon("warn"),
        h("b", { text: "It cannot be opened." }),
        h("span", { text: message }),
        h("a", { class: "btn", href: "/", text: "To the start page" }),
      ),
    );
  }
}
