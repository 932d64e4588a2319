import { useLayoutEffect, useRef } from "preact/hooks";
import { passFocus } from "../lib/dom.ts";

/** A `ref` of what takes the focus when it appears. */
export const focused = (element: HTMLElement | null) => element?.focus();

/** A `ref` of what passes the focus that it has on to `to` when it goes. */
export function usePassing<E extends Element>(to: HTMLElement) {
  const ref = useRef<E>(null);
  useLayoutEffect(() => {
    const element = ref.current;
    return () => (element ? passFocus(element, to) : undefined);
  }, [to]);
  return ref;
}
