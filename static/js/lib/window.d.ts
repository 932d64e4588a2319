// What podstep's scripts share by the window, and what they expect of the page.

import type { Found } from "./dom.ts";
import type { Early } from "./socket.ts";

declare global {
  interface Window {
    /** The connection that link-early.js has made, until lib/socket.ts takes it over; null once it was looked for. */
    podstepEarly?: Early | null;
    /** What the browser tests look at. */
    podstep?: Record<string, any>;
    /** What a recording holds compressed, as text or as a script that is run: recorded/boot.js. */
    podstepHeld?: Record<"text" | "run", (held: Element | null) => Promise<any>>;
    /** What loads the library of charts where no server has it. */
    podstepCharts?: () => Promise<void>;
    /** The library of charts, once lib/plotly.ts has loaded it. */
    Plotly?: any;
  }

  // What is looked for is HTML, of the tag that the selector ends in: nobody looks for an icon, the only SVG there is.
  interface Element {
    closest<S extends string>(selector: S): Found<S> | null;
  }
  interface ParentNode {
    querySelector<S extends string>(selector: S): Found<S> | null;
    querySelectorAll<S extends string>(selector: S): NodeListOf<Found<S>>;
  }
}
