// Signals, for components that also read what is no signal, as the view.

import { Component } from "preact";

export { computed, signal, untracked, useSignal, type ReadonlySignal, type Signal } from "@preact/signals";

// The library skips a component whose props are the same objects as before; these change in place.
delete Component.prototype.shouldComponentUpdate;
