// What podstep's scripts share by the window.

import type { Early } from "./socket.js";

declare global {
  interface Window {
    /** The connection that link-early.js has made, until lib/socket.js takes it over; null once it was looked for. */
    podstepEarly?: Early | null;
    /** What the browser tests look at. */
    podstep?: Record<string, any>;
  }
}
