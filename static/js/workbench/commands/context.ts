// What commands work on: the parts of a page.

import type { Build } from "../build/build.ts";
import type { Controls } from "../layout/controls.tsx";
import type { Deck } from "../deck/deck.ts";
import type { Layout } from "../layout/layout.ts";
import type { Playback } from "../playback/playback.ts";
import type { Points } from "../breakpoints/breakpanel.tsx";
import type { Presenting } from "../layout/presenting.tsx";
import type { Stage } from "../stage/stage.ts";
import type { Stops } from "../breakpoints/stops.tsx";
import type { View } from "../view/view.ts";

export type Context = {
  playback: Playback;
  view: View;
  deck: Deck;
  build: Build;
  layout: Layout;
  controls: Controls;
  stage: Stage;
  stops: Stops;
  points: Points;
  presenting: Presenting;
  palette: { open(): void };
  help: () => void;
  onShare: () => void;
  /** Whether it is the visitor's own draft. */
  mine: boolean;
  /** Whether its page shows one step alone. */
  locked: boolean;
};
