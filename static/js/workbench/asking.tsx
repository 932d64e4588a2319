// What components ask the server, and when they are drawn again.

import { useEffect, useLayoutEffect, useReducer, useRef } from "preact/hooks";
import type { Emitter } from "../lib/emitter.js";

/** A function that has the component drawn again. */
export function useRedraw(): () => void {
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  return () => redraw(0);
}

/** Draw the component again at events, while `shown`, asked then, holds. */
export function useEvent(emitter: Emitter, names: string[], shown: () => boolean) {
  const redraw = useRedraw();
  useLayoutEffect(() => {
    const ends = names.map((name) => emitter.on(name, () => shown() && redraw()));
    return () => ends.forEach((end) => end());
  }, [emitter]);
}

/** An answer, or why there is none, and the question that it answers. */
export type Answer<T> = { key: string; value?: T; error?: string };

/**
 * What the server answers to the question `key`, none for ""; the answer before stays until the new one is there, or is
 * superseded.
 */
export function useAnswer<T>(key: string, ask: () => Promise<T>): Answer<T> | null {
  const redraw = useRedraw();
  const state = useRef<{ asked: string; answer: Answer<T> | null }>({ asked: "", answer: null }).current;
  useEffect(() => {
    if (!key || state.asked === key) return;
    state.asked = key;
    const settle = (answer: Answer<T>) => {
      if (state.asked !== key) return;
      state.answer = answer;
      redraw();
    };
    ask().then(
      (value) => settle({ key, value }),
      (error) => error.code !== "request.superseded" && settle({ key, error: error.message }),
    );
  }, [key]);
  return state.answer;
}
