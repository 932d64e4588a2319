// Change how one's own draft is simulated from outside the Policy tab: rewrite its SimulationSettings, then simulate anew.

import { announce, toast } from "../lib/dom.js";

/** What tabs of Inspect may offer: `{mine, canFork, fork(), dirty(), change([[what, key, value]…], words)}`. */
export function settings({ view, build, mine, canFork, fork }) {
  let busy = false;
  const { options } = build.policy;
  return {
    mine, canFork, fork,
    /** Whether the YAML has changes that are not applied. */
    dirty: () => options.dirty(),
    async change(changes, words) {
      if (busy || options.dirty()) return;
      busy = true;
      try {
        const before = await options.text();
        let text = before;
        for (const [what, key, value] of changes) ({ text } = await view.playback.socket.call("bundle.configure", { text, what, key, value }));
        await options.apply(text);
        if (text !== before) build.undo.push(words, before);
        announce(`${words}. The simulation starts anew.`);
        toast(`${words}: the simulation starts anew.`);
      } catch (error) {
        toast(error.body?.errors?.[0]?.message ?? error.message, { name: "warn", ms: 6000 });
      } finally {
        busy = false;
      }
    },
  };
}
