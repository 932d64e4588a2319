// Change how one's own draft is simulated from outside the Policy tab: rewrite its SimulationSettings, then simulate
// again.

import { toast } from "../../lib/dom.ts";
import { refusalOf } from "../../lib/socket.ts";
import type { Change } from "./change.ts";
import type { Playback } from "../playback/playback.ts";

export type Settings = ReturnType<typeof settings>;

/** What tabs of Inspect may offer. */
export function settings({
  playback,
  options,
  notify,
  mine,
  canFork,
  fork,
}: {
  playback: Playback;
  options: { text(): Promise<string>; dirty(): boolean; change: Change };
  /** Report a change that can be undone. */
  notify: (text: string) => void;
  mine: boolean;
  canFork: boolean;
  fork: () => Promise<void>;
}) {
  let busy = false;
  return {
    mine,
    canFork,
    fork,
    /** Whether the YAML has changes that are not applied. */
    dirty: () => options.dirty(),
    /** Say why nothing can be chosen now. */
    blocked: () =>
      toast("The YAML has changes that are not applied: apply or discard them first.", { name: "warn", ms: 6000 }),
    /** @param changes each with what is configured, its key and its value */
    async change(changes: string[][], words: string) {
      if (busy || options.dirty()) return;
      busy = true;
      try {
        const configured = async (before: string) => {
          let text = before;
          for (const [what, key, value] of changes)
            ({ text } = await playback.socket.call("bundle.configure", { text, what, key, value }));
          return { text };
        };
        await options.change(configured, { words });
        toast(`${words}: the simulation restarts.`);
      } catch (error) {
        const { body, message } = refusalOf(error);
        toast(body?.errors?.[0]?.message ?? message, { name: "warn", ms: 6000 });
      } finally {
        busy = false;
      }
    },
    /**
     * Put other weights, `{priority: weight}`, in force from the start or right before the cycle on screen; a scenario
     * that is not one's own is copied first. `profile` is the schedulerName whose profile has them, "" for the first.
     */
    async weigh(weights: Record<string, number>, when: string, profile: string) {
      if (busy) return;
      if (options.dirty()) throw new Error("The YAML has changes that are not applied. Apply or discard them first.");
      busy = true;
      try {
        const { socket, source, index } = playback;
        const words = Object.entries(weights)
          .map(([name, weight]) => `${name} ${weight ? `weight ${weight}` : "off"}`)
          .join(", ");
        const step = when === "before" ? await playback.address(Math.max(0, index - 1)) : undefined;
        const configured = (text: string) =>
          socket.call("bundle.configure", {
            text,
            what: "weights",
            key: profile,
            value: JSON.stringify(weights),
            ...(step ? { step } : {}),
          });
        if (!mine) {
          const { text } = await configured(await options.text());
          const { draft, url } = await socket.call("scenario.fork", { source });
          await socket.call("draft.save", { draft, text });
          location.assign(`${new URL(url, location.origin).pathname}${location.search}`);
          return;
        }
        await options.change(configured, { words });
        const message = `${when === "before" ? `Before cycle ${index}` : "From the start"}: ${words}.`;
        notify(message);
      } finally {
        busy = false;
      }
    },
  };
}
