// Signals, for components that also read what is no signal, as the view.

import { untracked } from "@preact/signals";
import { Component } from "preact";
import { reading } from "./reading.ts";

export {
  batch,
  computed,
  effect,
  signal,
  untracked,
  useSignal,
  type ReadonlySignal,
  type Signal,
} from "@preact/signals";

// The library skips a component whose props are the same objects as before; these change in place.
delete Component.prototype.shouldComponentUpdate;
reading.untracked = untracked;
