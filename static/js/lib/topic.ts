// Typed events: a topic is called with what happens or is asked for, and followed by whoever acts on it.

export type Topic<A extends unknown[] = []> = {
  (...what: A): void;
  /** Call `listener` each time until the returned function is called, or `signal` aborts. */
  on(listener: (...what: A) => void, options?: { signal?: AbortSignal }): () => void;
};

export function topic<A extends unknown[] = []>(): Topic<A> {
  const listeners = new Set<(...what: A) => void>();
  const call = (...what: A) => {
    for (const listener of listeners) listener(...what);
  };
  const on: Topic<A>["on"] = (listener, { signal } = {}) => {
    listeners.add(listener);
    const end = () => void listeners.delete(listener);
    signal?.addEventListener("abort", end, { once: true });
    return end;
  };
  return Object.assign(call, { on });
}
