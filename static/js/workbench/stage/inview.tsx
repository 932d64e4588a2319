// Keeps the node of the shown cycle in view, until somebody looks elsewhere on purpose; then one click leads back.

import { createRef } from "preact";
import { Icon } from "../../kit/icon.tsx";
import { signal } from "../../kit/signals.ts";
import { passFocus } from "../../lib/dom.ts";
import type { View } from "../view/view.ts";

/** Cards, overview or table. */
type Picture = { inView: (node: number) => boolean; reveal: (node: number) => void };

const KEYS = new Set(["PageUp", "PageDown", "Home", "End", "ArrowUp", "ArrowDown", " "]);
const INTENDED = 700; // milliseconds in which scrolling is what somebody did

export class InView {
  readonly away = signal(-1); // the node that is not in view; -1: it is, or there is none
  readonly button = createRef<HTMLButtonElement>();
  #picture: Picture | null = null;
  #held = false;
  #intended = -Infinity; // until when scrolling is somebody's doing

  /** `body` is what scrolls, or what scrolls is in it. */
  constructor(
    readonly view: View,
    readonly body: HTMLElement,
  ) {
    const intend = () => {
      this.#intended = performance.now() + INTENDED;
    };
    for (const name of ["wheel", "touchmove"]) body.addEventListener(name, intend, { passive: true });
    body.addEventListener("keydown", (event) => {
      if (KEYS.has(event.key)) intend();
    });
    body.addEventListener("pointerdown", (event) => {
      if (event.target === body || (event.target as Element).matches(".grid-scroll")) this.#intended = Infinity;
    }); // its scroll bar
    addEventListener("pointerup", () => {
      if (this.#intended === Infinity) intend();
    });
    body.addEventListener(
      "scroll",
      () => {
        if (performance.now() <= this.#intended) this.moved();
        else this.update();
      },
      { passive: true, capture: true },
    );
  }

  /** The node that the cycle chose or nominated, as far as it has come; -1 for none. */
  get node() {
    const { facts } = this.view;
    return facts.chosen >= 0 ? facts.chosen : facts.nominated;
  }

  /** Another picture is on screen, null for none: nobody has looked elsewhere in it. */
  take(picture: Picture | null) {
    this.#picture = picture;
    this.#held = false;
    if (!picture) this.#offer(-1);
  }

  /** Somebody has scrolled, moved or zoomed the picture. */
  moved() {
    if (this.node >= 0) this.#held = !this.#picture?.inView(this.node);
    this.update();
  }

  /** A step is drawn: show its node. */
  follow() {
    if (this.node >= 0 && !this.#held) this.#picture?.reveal(this.node);
    this.update();
  }

  /** Go back to the node. */
  back() {
    this.#held = false;
    this.follow();
  }

  #offer(node: number) {
    if (node < 0 && this.button.current) passFocus(this.button.current, this.body);
    this.away.value = node;
  }

  /** Offer the way back to the node where it is not in view. */
  update() {
    const { node } = this;
    this.#offer(node >= 0 && this.#picture !== null && !this.#picture.inView(node) ? node : -1);
  }
}

/** The way back. */
export function ShowNode({ inView }: { inView: InView }) {
  const node = inView.away.value;
  return (
    <button
      ref={inView.button}
      type="button"
      class="btn small show-node"
      hidden={node < 0}
      onClick={() => inView.back()}
    >
      <Icon name="stage" />
      <span>{`Show ${inView.view.playback.nodes?.names[node] ?? ""}`}</span>
    </button>
  );
}
