// What the server does for a form: how far it is, and stopping it.

import { render } from "preact";
import { ProgressBar } from "../kit/progress.tsx";
import { progressOf } from "../lib/progress.ts";
import type { Report } from "../lib/protocol.js";

const REPORT_EVERY = 8000; // milliseconds

export class Working {
  #now: { controller: AbortController; left: string } | null = null;
  #host = document.createElement("div");

  /** `place` takes the bar, `say` receives the progress, and `stopped` that somebody gave it up. */
  constructor(
    place: HTMLElement,
    private readonly say: (text: string) => void,
    private readonly stopped: (left: string) => void,
  ) {
    place.append(this.#host);
  }

  /** Whether the bar is shown. */
  get shown() {
    return this.#host.hasChildNodes();
  }

  /** Begin something, in place of what was begun before; `left` tells what it leaves when it is given up. */
  begin(label: string, left: string) {
    this.stop();
    const mine = (this.#now = { controller: new AbortController(), left });
    let reported = performance.now();
    const progress = (report: Report) => {
      if (this.#now !== mine) return;
      const far = progressOf(report);
      render(<ProgressBar label={label} far={far} onCancel={() => this.cancel()} />, this.#host);
      if (performance.now() - reported < REPORT_EVERY) return;
      reported = performance.now();
      this.say(`${label}: ${Math.round(far[0] * 100)} %.`);
    };
    return { signal: mine.controller.signal, progress, done: () => this.#now === mine && this.#end() };
  }

  #end() {
    const now = this.#now;
    this.#now = null;
    render(null, this.#host);
    return now;
  }

  /** Stop it. */
  stop() {
    this.#end()?.controller.abort();
  }

  /** Stop it as somebody who gives it up does. */
  cancel() {
    const left = this.#now?.left;
    this.stop();
    if (left) this.stopped(left);
  }
}
