// Named events between the parts of a page.

export class Emitter {
  /** @type {Map<string, Set<(value: any) => void>>} */
  #listeners = new Map();

  /**
   * Call `listener` for every event of this name until the returned function is called, or `signal` aborts.
   *
   * @param {string} name
   * @param {(value: any) => void} listener
   * @param {{signal?: AbortSignal}} [options]
   * @returns {() => void}
   */
  on(name, listener, { signal } = {}) {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(listener));
    const end = () => void listeners.delete(listener);
    signal?.addEventListener("abort", end, { once: true });
    return end;
  }

  /**
   * @param {string} name
   * @param {any} [value]
   */
  emit(name, value) {
    for (const listener of this.#listeners.get(name) ?? []) listener(value);
  }
}
