// Named events between the parts of a page.

export class Emitter {
  #listeners = new Map();

  /** Call `listener` for every event of this name until the returned function is called, or `signal` aborts. */
  on(name, listener, { signal } = {}) {
    if (!this.#listeners.has(name)) this.#listeners.set(name, new Set());
    this.#listeners.get(name).add(listener);
    const end = () => this.#listeners.get(name).delete(listener);
    signal?.addEventListener("abort", end, { once: true });
    return end;
  }

  emit(name, value) {
    for (const listener of this.#listeners.get(name) ?? []) listener(value);
  }
}
