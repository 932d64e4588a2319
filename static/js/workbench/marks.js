// One mark a cycle: its result, pod and node, in growing typed arrays.

export const RESULTS = { s: "scheduled", u: "unschedulable", e: "error", p: "preemption" };
const CODES = { s: 1, u: 2, e: 3, p: 4 };
export const LETTERS = ["", "s", "u", "e", "p"];

export class Marks {
  constructor() {
    this.result = new Uint8Array(1024); // by cycle index; 0: not known yet
    this.pod = new Int32Array(1024);
    this.node = new Int32Array(1024);
    this.restarts = []; // cycles before which the scheduler was restarted, ascending
    this.known = 0; // cycles 1..known are known without a gap
    this.version = 0;
  }

  put(from, marks) {
    const end = from + marks.result.length;
    if (end >= this.result.length) this.#grow(end + 1);
    for (let i = 0; i < marks.result.length; i += 1) {
      this.result[from + i] = CODES[marks.result[i]] ?? 3;
      this.pod[from + i] = marks.pod[i];
      this.node[from + i] = marks.node[i] ?? -1;
    }
    const last = from + marks.result.length - 1;
    if (marks.restarts?.length) this.restarts = [...this.restarts.filter((i) => i < from || i > last), ...marks.restarts].sort((a, b) => a - b);
    while (this.known + 1 < this.result.length && this.result[this.known + 1]) this.known += 1;
    this.version += 1;
  }

  /** The next cycle after (direction 1) or before (-1) `index` whose result is one of `letters`, or 0. */
  seek(index, direction, letters) {
    const wanted = new Set([...letters].map((letter) => CODES[letter]));
    for (let i = index + direction; i >= 1 && i <= this.known; i += direction) if (wanted.has(this.result[i])) return i;
    return 0;
  }

  /** Whether the scheduler was restarted just before a cycle. */
  restarted(index) { return this.restarts.includes(index); }

  /** The first cycle of a pod after `index` (wrapping around), or 0. */
  ofPod(pod, index = 0) {
    let first = 0;
    for (let i = 1; i <= this.known; i += 1) {
      if (this.pod[i] !== pod) continue;
      if (i > index) return i;
      first = first || i;
    }
    return first;
  }

  #grow(size) {
    const capacity = Math.max(size, this.result.length * 2);
    for (const name of ["result", "pod", "node"]) {
      const wider = new this[name].constructor(capacity);
      wider.set(this[name]);
      this[name] = wider;
    }
  }
}
