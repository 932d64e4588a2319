// Named events between the parts of a page.

export class Emitter {
  #listeners: Map<string, Set<(value: any) => void>> = new Map();

  /** Call `listener` for every event of this name until the returned function is called, or `signal` aborts. */
  on(name: string, listener: (value: any) => void, { signal }: { signal?: AbortSignal } = {}): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(listener));
    const end = () => void listeners.delete(listener);
    signal?.addEventListener("abort", end, { once: true });
    return end;
  }

  emit(name: string, value?: any) {
    for (const listener of this.#listeners.get(name) ?? []) listener(value);
  }
}
