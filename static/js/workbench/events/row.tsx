// An event in the list: when it takes effect, what it does, its result, and what can be done with it.

import { useMemo } from "preact/hooks";
import { Icon } from "../../kit/icon.tsx";
import { computed } from "../../kit/signals.ts";
import type { Operation } from "../../lib/protocol.js";
import { count } from "../../lib/quantity.ts";
import { Handle } from "./handle.tsx";
import type { EventList, EventProps } from "./list.ts";
import type { Scale } from "./scale.ts";

/** Whether an event can be changed. */
export const changes = ({ row, list }: EventProps) => list.own && row.action !== "done";

/** Words with places to break them: the paths of fields are longer than the list is wide. */
const breakable = (words: string) =>
  words.split(/(?<=[./:@])/).flatMap((part, i) => (i ? [<wbr key={i} />, part] : [part]));

/** When an event lands, in full. */
function landing({ after, during, pinned, seconds }: Operation, timed: boolean, scale: Scale) {
  const whole = after ? `after cycle ${after}` : "before the first cycle";
  const place = during ? `inside cycle ${(after ?? 0) + 1}, between evaluating and writing` : whole;
  if (pinned) return place;
  return `${place}, ${timed ? scale.words(seconds ?? 0) : "when nothing was left to schedule"}`;
}

/** When it takes effect, in a word or two. */
function short({ after, action, during, seconds }: Operation, timed: boolean, { scale, playback }: EventList) {
  if (after === null) {
    if (action === "done") return "end";
    return playback.complete === false ? "…" : "no effect";
  }
  if (during) return `in ${count(after + 1)}`;
  if (timed) return scale.short(seconds ?? 0);
  return after ? `after ${count(after)}` : "start";
}

/** How an event stands to a step. */
const standing = ({ after }: Operation, index: number) =>
  after === null || after + 1 > index ? "" : after + 1 < index ? "past" : "now";

export function EventRow({ row, list }: EventProps) {
  const { id, words } = row;
  const { at, chosen } = list;
  const state = useMemo(() => computed(() => standing(row, at.value)), [row, at]);
  const own = changes({ row, list });
  const choose = (on: boolean) => {
    const others = [...chosen.value].filter((one) => one !== id);
    chosen.value = new Set(on ? [...others, id] : others);
  };
  return (
    <li data-row={id} class={state.value}>
      <div class="event-line">
        {own ? (
          <input
            type="checkbox"
            tabIndex={-1}
            aria-label={`Choose: ${words}`}
            checked={chosen.value.has(id)}
            onChange={(event) => choose(event.currentTarget.checked)}
          />
        ) : null}
        <Go row={row} list={list} />
        {own ? (
          <span class="history-tools">
            <Tool icon="edit" label="Change what it does" words={words} act={() => list.edit(row)} />
            <Tool icon="here" label="Move it to the step on screen" words={words} act={() => list.here([row])} />
            <Tool icon="copy" label="Once more" words={words} act={() => list.again([row])} />
            <Tool icon="cross" label="Remove it" words={words} act={() => list.remove([row])} />
          </span>
        ) : null}
      </div>
      <Outcome id={id} list={list} />
      {own ? <Handle row={row} list={list} /> : null}
    </li>
  );
}

/** When it takes effect and what it does; goes to the cycle after. */
function Go({ row, list }: EventProps) {
  const { id, words, after, during, seconds } = row;
  const { playback, scale, moving, stop } = list;
  const timed = scale.timed && seconds !== null && after !== null;
  return (
    <button
      type="button"
      class="history-go"
      data-event={id}
      tabIndex={stop.value === id ? 0 : -1}
      title={after === null ? words : landing(row, timed, scale)}
      disabled={after === null}
      onClick={() => playback.goto((after ?? -1) + 1)}
    >
      <span class={`pill ${during ? "victim" : ""}`}>
        {moving.value?.id === id ? scale.short(moving.value.value) : short(row, timed, list)}
      </span>
      <span class="history-words">{breakable(words)}</span>
    </button>
  );
}

type ToolProps = { icon: string; label: string; words: string; act: () => void };

const Tool = ({ icon, label, words, act }: ToolProps) => (
  <button
    type="button"
    class="btn quiet square tiny"
    aria-label={`${label}: ${words}`}
    title={label}
    tabIndex={-1}
    onClick={act}
  >
    <Icon name={icon} />
  </button>
);

function Outcome({ id, list }: { id: string; list: EventList }) {
  const found = list.outcomes.known.value.get(id);
  if (!found?.text && found?.effect !== false) return null;
  return (
    <p class={`event-outcome ${found.effect ? "" : "none"}`}>
      {found.effect ? null : <Icon name="warn" />}
      {found.effect ? found.text : `no effect: ${found.text}`}
    </p>
  );
}
