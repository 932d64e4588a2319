// A map that forgets what was not used for longest.

/**
 * @template K, V
 * @extends {Map<K, V>}
 */
export class Lru extends Map {
  /** @param {number} limit */
  constructor(limit) {
    super();
    this.limit = limit;
  }

  /**
   * @param {K} key
   * @returns {V | undefined}
   */
  get(key) {
    const value = super.get(key);
    if (value !== undefined) {
      super.delete(key);
      super.set(key, value);
    }
    return value;
  }

  /**
   * @param {K} key
   * @param {V} value
   */
  set(key, value) {
    super.delete(key);
    super.set(key, value);
    if (this.limit) while (this.size > this.limit) super.delete(/** @type {K} */ (super.keys().next().value));
    return this;
  }
}
