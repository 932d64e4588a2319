// The current position, as it is announced to screen readers.

import { clock, plural, short } from "../../lib/quantity.ts";
import { spoken } from "./moments.tsx";
import type { View } from "../view/view.ts";

/** The current position, "" where there is nothing to announce. */
export function placeWords({ playback, stopped }: View) {
  const { index } = playback;
  const light = playback.current;
  const { moment } = playback;
  if (moment)
    return `Moment ${playback.at} of ${playback.moments?.length}, ${clock(moment.time)}: ${spoken(moment.text)}`;
  if (playback.phase) return `Cycle ${index}, phase ${playback.phase}.`;
  if (playback.atEnd) return `The end, at ${clock(playback.time ?? 0)}.`;
  if (!light) return index === 0 ? "Before the first cycle." : "";
  const pod = short(playback.pods.keys[light.pod]);
  const ended =
    light.node === null
      ? light.result
      : light.result === "waiting"
        ? `waits at Permit on ${playback.nodes.names[light.node]}`
        : `to ${playback.nodes.names[light.node]}`;
  const turns = playback.marks
    .turns(index)
    .slice(0, 3)
    .map((text) => ` PodGroup ${text}.`)
    .join("");
  const why = stopped?.index === index ? ` ${stopped.text}.` : "";
  const stale = light.cache?.[3] ? ` ${plural(light.cache[3], "stale hit")} of the cache.` : "";
  const after = light.restart ? ", after a restart of the scheduler" : "";
  return `Cycle ${index}${after}: ${pod} ${ended}.${why || `${stale}${turns}`}`;
}
