// The moments of the shown step under the timeline: a tick for each, a slider among them, and the sentence about the
// one that is shown.

import type { ComponentChild } from "preact";
import { useRef } from "preact/hooks";
import type { Moment, Sentence } from "../../lib/protocol.js";
import { clock, count, plural, short } from "../../lib/quantity.ts";
import { sentence } from "../view/sentence.tsx";
import type { Playback } from "../playback/playback.ts";
import { reads } from "../playback/store.ts";
import type { View } from "../view/view.ts";

const KINDS: Record<string, string> = {
  event: "before the attempt",
  attempt: "the attempt",
  consequence: "brought about",
};

/** A sentence without its links. */
export const spoken = (parts: Sentence) =>
  typeof parts === "string"
    ? parts
    : parts.map((part) => (typeof part === "string" ? part : short(String(Object.values(part)[0])))).join("");

/** There are moments to choose from only where time passes or something comes from outside. */
export function Moments({ view }: { view: View }) {
  const { playback, store } = view;
  reads(store.scenario, store.known, ...store.shown);
  const kept = useRef<ComponentChild>(null); // what was drawn stays until the moments of the next step are there
  if (!playback.nodes || !(playback.timed || playback.marks.operations > 0)) return <div class="moments" hidden />;
  const moments = playback.index > 0 ? playback.moments : [];
  if (moments) kept.current = <Shown view={view} moments={moments} />;
  return <div class={moments ? "moments" : "moments waiting"}>{kept.current}</div>;
}

function Shown({ view, moments }: { view: View; moments: Moment[] }) {
  const { playback } = view;
  const { at, moment, phase, reached } = playback;
  const all = moments.length;
  const tried = moments.findIndex(({ kind }) => kind === "attempt");
  const passed = at || (phase ? tried + (reached.over ? 1 : 0) : all);
  const goto = (to: number, since: number) => {
    view.actions.hold();
    playback.goto(playback.index, since, { at: to });
  };
  const still = () => all > 0 && playback.wanted === playback.index;
  const pick = (event: PointerEvent & { currentTarget: HTMLElement }) => {
    if (!still()) return;
    const { left, width } = event.currentTarget.getBoundingClientRect();
    const to = Math.max(1, Math.min(all, Math.floor(((event.clientX - left) / width) * all) + 1));
    if (to !== playback.at) goto(to, event.timeStamp);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const here = playback.at || all + 1;
    const keys: Record<string, number> = {
      ArrowLeft: here - 1,
      ArrowDown: here - 1,
      ArrowRight: here + 1,
      ArrowUp: here + 1,
      Home: 1,
      End: 0,
      Escape: 0,
    };
    const to = keys[event.key];
    if (to === undefined || (event.key === "Escape" && !playback.at)) return;
    event.preventDefault();
    event.stopPropagation();
    if (still()) goto(to === 0 || to > all ? 0 : Math.max(1, to), event.timeStamp);
  };
  const whole = wholeOf(playback, moments);
  return (
    <>
      <div
        class="moment-track"
        role="slider"
        tabIndex={0}
        aria-label="Moment"
        aria-valuemin={0}
        aria-valuemax={all}
        aria-valuenow={at || all}
        aria-valuetext={moment ? `moment ${at} of ${all}, ${clock(moment.time)}: ${spoken(moment.text)}` : whole}
        aria-disabled={!all}
        onPointerDown={(event) => {
          if (event.button) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          pick(event);
        }}
        onPointerMove={(event) => event.currentTarget.hasPointerCapture(event.pointerId) && pick(event)}
        onKeyDown={onKeyDown}
      >
        {moments.map((one, i) => (
          <i key={i} class={`${i < passed ? tickOf(one) : "tick"}${i === at - 1 ? " now" : ""}`} />
        ))}
      </div>
      <div class="moment-text" title={moment ? spoken(moment.text) : ""}>
        {moment ? (
          <>
            <span class="num dim">{`${count(at)} / ${count(all)}`}</span>
            <span class="num moment-time">{clock(moment.time)}</span>
            <span class={`pill moment-kind ${moment.kind}`}>{KINDS[moment.kind]}</span>
            {sentence(view, moment.text)}
          </>
        ) : (
          <span class="dim">{whole}</span>
        )}
      </div>
    </>
  );
}

/** A tick of what is still to come only shows that there is something. */
const tickOf = ({ kind, what }: Moment) => `tick passed ${kind}${what === "FailedScheduling" ? " failed" : ""}`;

/** The text for a step whose moments have all passed. */
function wholeOf({ index, phase, time }: Playback, moments: Moment[]) {
  if (!index) return "before the first moment";
  const [first, last] = [moments[0]?.time, moments.at(-1)?.time];
  if (first === undefined || last === undefined) return "nothing happened since the last cycle";
  if (phase) return `phase ${phase} of the attempt, at ${clock(time ?? 0)}`;
  const when = first === last ? `all at ${clock(first)}` : `from ${clock(first)} to ${clock(last)}`;
  return `${plural(moments.length, "moment")}, ${when}`;
}
