// What the marks of the timeline mean, as far as there are any that may be shown.

import { reads } from "../playback/store.ts";
import type { View } from "../view/view.ts";

const MARKS = [
  ["pass", "scheduled"],
  ["fail", "unschedulable"],
  ["victim", "preemption"],
  ["stale", "error"],
  ["stale-hit", "stale cache hit"],
  ["restart", "scheduler restarted"],
  ["quirk", "quirk of v1.11"],
  ["wait", "waiting at Permit"],
  ["group", "PodGroup: new phase"],
  ["group-failed", "PodGroup rejected or timed out"],
  ["descheduling", "descheduler ran; hollow: evicted nothing"],
  ["kueue", "Kueue admitted; filled: it preempted"],
  ["outside", "event from outside"],
];

export function TimelineLegend({ view }: { view: View }) {
  const { playback, seen, store } = view;
  reads(store.known);
  const { ahead, upto } = store.seen.value;
  const later = laterOf(view);
  return (
    <ul class="legend" aria-label="Marks of the timeline">
      {MARKS.map(([name, text]) => (
        <li key={name} data-mark={name} hidden={later[name] === false}>
          <i class={`mark ${name}`} />
          {text}
        </li>
      ))}
      <li class="reveal" data-mark="ahead" hidden={playback.complete === true && upto >= playback.cycles}>
        <i class="mark ahead" />
        <button
          type="button"
          class="link"
          data-reveal
          aria-pressed={ahead}
          title={`${ahead ? "Hide" : "Show"} the outcomes of cycles that were not visited yet (o)`}
          onClick={() => seen.reveal(!ahead)}
        >
          Show outcomes ahead
        </button>
      </li>
    </ul>
  );
}

/** Of the marks that are explained once there is one: whether there is, among those that may be shown. */
function laterOf({ playback: { marks }, seen }: View): Record<string, boolean> {
  const knows = (index: number) => index > 0 && seen.knows(index);
  const turns = [...marks.groups].filter(([index]) => knows(index)).flatMap(([, found]) => found);
  return {
    restart: marks.restarts.some(knows),
    "stale-hit": knows(marks.seekStale(0, 1)),
    quirk: [...marks.quirks].some(knows),
    wait: knows(marks.seek(0, 1, "w")),
    group: turns.length > 0,
    descheduling: [...marks.passes.keys()].some(knows),
    kueue: [...marks.kueue.keys()].some(knows),
    outside: marks.seekOperation(0, 1) > 0,
    "group-failed": turns.some(([kind]) => kind !== "phase"),
  };
}
