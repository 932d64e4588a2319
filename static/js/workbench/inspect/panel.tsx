// The frame of a tab of Inspect whose content is a component: it is drawn again when what is shown changes.

import { render, type FunctionComponent } from "preact";
import type { Parts } from "../../lib/protocol.js";
import type { View } from "../view/view.ts";
import { Before } from "./empty.tsx";

/** What the content of a tab gets; `part` is its part of the record. */
export type Content<K extends keyof Parts = keyof Parts> = { view: View; part: NonNullable<Parts[K]> };

export type Framed = {
  key: string;
  /** Its part of the record, without which it waits; a tab without one is drawn from what the browser knows. */
  part?: keyof Parts;
  component: FunctionComponent<any>;
  /** It shows something without a part too, where no pod is tried. */
  always?: boolean;
  /** The class of its element, where it is not `KEY-tab`. */
  class?: string;
};

export class Panel {
  readonly element = document.createElement("div");

  constructor(
    private readonly view: View,
    private readonly tab: Framed,
  ) {
    this.element.className = tab.class ?? `${tab.key}-tab`;
    view.panels.signal.addEventListener("abort", () => render(null, this.element), { once: true });
  }

  update() {
    const { view } = this;
    const { component: Component, part: name, always } = this.tab;
    const part = name && view.playback.parts?.[name];
    const without = name && !part;
    this.element.classList.toggle("waiting", Boolean(without && view.playback.current));
    if (without && view.playback.current) return; // what was shown stays until the part has arrived
    render(without && !always ? <Before view={view} /> : <Component view={view} part={part} />, this.element);
  }
}
