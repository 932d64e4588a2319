// The two layers of the controls. The first has the stage, the transport, the phases and the story; everything else is
// behind "More". A first visit begins in it; what somebody chose is remembered for every page of its kind: drafts,
// shared scenarios, rooms.

import { render } from "preact";
import { $, $$, announce, set, toast } from "../../lib/dom.ts";
import { plural } from "../../lib/quantity.ts";
import type { View } from "../view/view.ts";
import { follow } from "../playback/store.ts";

// Where the browser keeps what was chosen, of each kind of page.
const KEY = "podstep.controls";
const MORE =
  "Objects, Policy and YAML of the cluster; all tabs of Inspect; breakpoints, speed and units of the transport; "
  + "Comments, Present and the command palette";
// Keys of the address that ask for Build.
const BUILD = ["edit", "create"];
const HIDDEN = '.inspect [role=tab]:not([hidden], [data-tab="story"], [aria-selected="true"])';

export class Controls {
  readonly #button: HTMLElement | null = $("[data-controls]");
  readonly #note = document.createElement("p");
  readonly #kept: string; // where the choice for pages of this kind is
  few = false;

  constructor(
    private readonly root: HTMLElement,
    view: View,
  ) {
    const { room, mine } = root.dataset;
    this.#kept = `${KEY}.${room === undefined ? (mine === undefined ? "shared" : "draft") : "room"}`;
    this.#note.className = "few-note";
    $("#region-inspect", root).append(this.#note);
    // What asks for Build, such as the search or an edit, gets it; that is no choice for the next time.
    view.actions.region.on((name) => {
      if (name === "build") this.#show(false);
    });
    view.actions.edit.on(() => this.#show(false));
    follow([view.store.scenario, view.store.parts], () => this.#tell());
    follow(view.store.tab, () => this.#tell());
    this.#show(Boolean(this.#button) && begins(this.#kept));
  }

  /** The switch with a name, in a menu. */
  get entry() {
    const text = this.few ? "All controls" : "Basic controls";
    return { text, icon: this.few ? "plus" : "minus", title: "m switches", run: () => this.choose(!this.few) };
  }

  /** Show few controls or all, from now on. */
  choose(few: boolean) {
    if (!this.#button) return;
    this.#show(few);
    try {
      localStorage.setItem(this.#kept, few ? "few" : "all");
    } catch {
      /* for this visit only */
    }
    if (few) toast("The basic controls are shown. More, or the key m, brings everything back.", { ms: 5000 });
    else announce("All controls are shown.");
  }

  #show(few: boolean) {
    this.few = few;
    document.body.classList.toggle("few", few);
    if (few && this.root.dataset.view === "build") this.root.dataset.view = "stage";
    if (this.#button) {
      $("span", this.#button).textContent = few ? "More" : "";
      set(this.#button, { title: few ? `More: all controls (m), files, documents. ${MORE}` : "More" });
    }
    this.#tell();
    dispatchEvent(new Event("resize")); // the regions have other widths
  }

  /** Say how much of Inspect is behind "More". */
  #tell() {
    render(
      <>
        The basic controls are shown.{" "}
        <button type="button" class="link" data-all-controls onClick={() => this.choose(false)}>
          {`More has ${plural($$(HIDDEN, this.root).length, "other tab")}`}
        </button>
        , the cluster's objects and YAML, breakpoints, and ways to change it.
      </>,
      this.#note,
    );
  }
}

/** Whether this page begins with the basic controls: unless all were chosen, or the address asks for Build. */
function begins(kind: string) {
  const query = new URLSearchParams(location.search);
  if (BUILD.some((key) => query.has(key))) return false;
  try {
    return localStorage.getItem(kind) !== "all";
  } catch {
    return true;
  }
}
