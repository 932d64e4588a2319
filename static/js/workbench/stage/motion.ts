// What moves when one steps: the pod of the cycle flies from the cycle bar to its node, pods that went elsewhere come
// from where they were. Transforms and opacity only, after the step is painted anyway; a new step interrupts.

const TIMING = { duration: 200, easing: "cubic-bezier(.2, .7, .3, 1)" };
const QUICK = 200; // milliseconds between two steps: whoever is faster sees no motion

const reduced = matchMedia("(prefers-reduced-motion: reduce)");

export type Flight = { pod: number; block: HTMLElement; frames: Keyframe[]; animation: Animation };
/** What stands for a pod, if anything does. */
export type BlockOf = (pod: number) => HTMLElement | null | undefined;

export class Motion {
  #running: Flight[] = [];
  #last = -Infinity;
  #frame = 0;

  /** Note a step; whether it may move. `host` holds what moves, and learns whether its bars may glide. */
  step(host: HTMLElement, { still = false }: { still?: boolean } = {}) {
    const now = performance.now();
    const quick = now - this.#last < QUICK;
    this.#last = now;
    this.stop();
    const moves = !quick && !still && !reduced.matches;
    host.classList.toggle("still", !moves);
    return moves;
  }

  stop() {
    cancelAnimationFrame(this.#frame);
    for (const { animation } of this.#running) animation.cancel();
    this.#running = [];
  }

  /** Let pods come from where `origin()` is, worked out in the frame that paints them at `blockOf(pod)`. */
  fly(pods: number[], origin: () => Element | null, blockOf: BlockOf) {
    this.#frame = requestAnimationFrame(() => {
      const from = origin()?.getBoundingClientRect();
      if (!from?.width) return;
      const boxes = pods.flatMap((pod) => {
        const block = blockOf(pod);
        return block ? [{ pod, block, to: block.getBoundingClientRect() }] : [];
      });
      for (const { pod, block, to } of boxes) {
        if (!to.width) continue;
        const dx = from.left + from.width / 2 - to.left - to.width / 2;
        const dy = from.top + from.height / 2 - to.top - to.height / 2;
        const frames = [
          { transform: `translate(${dx}px, ${dy}px) scale(${Math.min(1.4, from.width / to.width)})`, opacity: 0.65 },
          { transform: "none", opacity: 1 },
        ];
        this.#running.push({ pod, block, frames, animation: block.animate(frames, TIMING) });
      }
    });
  }

  /** What was painted again while it flew flies on. */
  renew(blockOf: BlockOf) {
    for (const one of this.#running) {
      if (one.block.isConnected || one.animation.playState !== "running") continue;
      const block = blockOf(one.pod);
      if (!block) continue;
      const animation = block.animate(one.frames, TIMING);
      animation.currentTime = one.animation.currentTime;
      Object.assign(one, { block, animation });
    }
  }
}
