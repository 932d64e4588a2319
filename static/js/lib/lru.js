// A map that forgets what was not used for longest.

export class Lru extends Map {
  constructor(limit) {
    super();
    this.limit = limit;
  }

  get(key) {
    const value = super.get(key);
    if (value !== undefined) {
      super.delete(key);
      super.set(key, value);
    }
    return value;
  }

  set(key, value) {
    super.delete(key);
    super.set(key, value);
    if (this.limit) while (this.size > this.limit) super.delete(super.keys().next().value);
    return this;
  }
}
