// A map that forgets what was not used for longest.

/** @extends {Map<K, V>} */
export class Lru<K, V> extends Map {
  constructor(readonly limit: number) {
    super();
  }

  get(key: K): V | undefined {
    const value = super.get(key);
    if (value !== undefined) {
      super.delete(key);
      super.set(key, value);
    }
    return value;
  }

  set(key: K, value: V) {
    super.delete(key);
    super.set(key, value);
    if (this.limit) while (this.size > this.limit) super.delete(super.keys().next().value as K);
    return this;
  }
}
