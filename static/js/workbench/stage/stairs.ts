// Where pods stand in a node's room, which is as wide as its cpu and as high as its memory: like stairs, each begins to
// the right of the one before and above it. So the corner over the last one is what is free of both, and a pod fits
// where its shape lies within the room. All of it as shares of the room; CSS makes lengths of them.

const WHOLE = 100;

/** Which part of `of` an amount is: all of nothing. */
const part = (amount: number, of: number) => (of > 0 ? (WHOLE * amount) / of : amount > 0 ? WHOLE : 0);

const text = (value: number) => String(Math.round(value * 100) / 100);

/** A place in the room as custom properties. */
const place = (x: number, y: number, wide: number, high: number): Record<string, string> => ({
  "--x": text(x),
  "--y": text(y),
  "--w": text(wide),
  "--h": text(high),
});

export class Stairs {
  #x = 0;
  #y = 0;

  /**
   * @param cpu millicores of the node
   * @param memory bytes
   */
  constructor(
    readonly cpu: number,
    readonly memory: number,
  ) {}

  /** The next place, for a pod that stays there. */
  add(cpu: number, memory: number) {
    const [wide, high] = [part(cpu, this.cpu), part(memory, this.memory)];
    const style = place(this.#x, this.#y, wide, high);
    this.#x += wide;
    this.#y += high;
    return style;
  }

  /** Other stairs that go on from here. */
  copy() {
    const other = new Stairs(this.cpu, this.memory);
    [other.#x, other.#y] = [this.#x, this.#y];
    return other;
  }

  /**
   * The place that a pod would take now, and of it what is beyond the room at the right and at the top, if anything.
   */
  shape(cpu: number, memory: number) {
    const [wide, high] = [part(cpu, this.cpu), part(memory, this.memory)];
    const [x, y] = [this.#x, this.#y];
    const beyond = [];
    if (wide > 0 && ends(x, wide)) beyond.push(place(Math.max(x, WHOLE), y, Math.min(wide, x + wide - WHOLE), high));
    if (high > 0 && ends(y, high)) beyond.push(place(x, Math.max(y, WHOLE), wide, Math.min(high, y + high - WHOLE)));
    return { style: place(x, y, wide, high), beyond };
  }
}

/** Whether what begins there ends beyond the room; sums of shares are not exact. */
const ends = (from: number, size: number) => from + size > WHOLE + 1e-6;
