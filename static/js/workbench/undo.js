// What was done to a draft's text, newest last: Undo leads back one by one, whether it was done in the Policy tab, the Cache tab, the list of events or the YAML.

const KEPT = 50; // steps back

export class Undo {
  #done = []; // [what was done, the text before]
  #busy = false;

  constructor(view, { apply, dirty }) {
    this.view = view;
    this.apply = apply;
    this.dirty = dirty;
  }

  get last() { return this.#done.at(-1)?.[0] ?? ""; }

  get depth() { return this.#done.length; }

  push(words, before) {
    this.#done.push([words, before]);
    if (this.#done.length > KEPT) this.#done.shift();
    this.view.emit("edits");
  }

  /** Bring back the text before the last change; what that was, "" if there is none. */
  async back() {
    const last = this.#done.at(-1);
    if (!last || this.#busy) return "";
    if (this.dirty()) throw new Error("The YAML has changes that are not applied. Apply or discard them first.");
    this.#busy = true;
    try {
      await this.apply(last[1]);
      this.#done.pop();
    } finally {
      this.#busy = false;
      this.view.emit("edits");
    }
    return last[0];
  }
}
