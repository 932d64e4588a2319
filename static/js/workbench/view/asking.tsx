// What components ask the server, and when they are drawn again.

import { useEffect, useLayoutEffect, useReducer, useRef } from "preact/hooks";
import type { ReadonlySignal } from "../../kit/signals.ts";
import { follow, type Store } from "../playback/store.ts";

/** A function that has the component drawn again. */
export function useRedraw(): () => void {
  const [, redraw] = useReducer<number, void>((n) => n + 1, 0);
  return redraw;
}

/** Draw the component again when a signal is written, while a tab of Inspect is open: opening one draws it anyway. */
export function useInTab(store: Store, tab: string, ...signals: ReadonlySignal<unknown>[]) {
  const redraw = useRedraw();
  const wanted = useRef(signals);
  wanted.current = signals;
  useLayoutEffect(
    () => follow(wanted.current, () => store.tab.peek().key === tab && redraw()),
    [store, tab, signals.length, redraw],
  );
}

/** An answer, or why there is none, and the question that it answers. */
export type Answer<T> = { key: string; value?: T; error?: string };

type Asking<T> = {
  /** Milliseconds before it is asked, for who passes many questions. */
  wait?: number;
  /** Answers that are known, by their key. */
  known?: Map<string, T>;
};

/**
 * What the server answers to the question `key`, none for ""; the answer before stays until the new one is there, or is
 * superseded.
 */
export function useAnswer<T>(
  key: string,
  ask: () => Promise<T>,
  { wait = 0, known }: Asking<T> = {},
): Answer<T> | null {
  const redraw = useRedraw();
  const state = useRef<{ asked: string; answer: Answer<T> | null }>({ asked: "", answer: null }).current;
  const there = known?.get(key);
  if (there !== undefined && state.answer?.key !== key)
    Object.assign(state, { asked: key, answer: { key, value: there } });
  useEffect(() => {
    if (!key || state.asked === key) return;
    state.asked = key;
    const settle = (answer: Answer<T>) => {
      if (answer.value !== undefined) known?.set(key, answer.value);
      if (state.asked !== key) return;
      state.answer = answer;
      redraw();
    };
    const put = () =>
      ask().then(
        (value) => settle({ key, value }),
        (error) => error.code !== "request.superseded" && settle({ key, error: error.message }),
      );
    if (!wait) {
      void put();
      return;
    }
    const timer = setTimeout(put, wait);
    return () => {
      clearTimeout(timer);
      if (state.asked === key && state.answer?.key !== key) state.asked = "";
    };
    // eslint-disable-next-line react-hooks/exhaustive-deps -- a question is its key
  }, [key]);
  return state.answer;
}
