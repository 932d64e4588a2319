// What is looked for by name: the nodes and pods that it found, the one that one is at, and on which nodes they are.

export class Search {
  #places = null; // of each node how many of the found are there; null: not worked out for this step
  #pods = new Set();

  constructor(view) {
    this.view = view;
    this.text = "";
    this.hits = []; // ["node" | "pod", its number]
    this.at = 0;
    const { playback } = view;
    for (const name of ["step", "moment", "met"]) playback.on(name, () => { this.#places = null; });
  }

  /** Take what was found; what one was at stays so where it is found again, else it is what has exactly this name, or the first. */
  show(text, nodes, pods) {
    const before = this.current;
    if (!text && !this.text) return;
    const { playback } = this.view;
    this.text = text;
    this.hits = text ? [...nodes.map((node) => ["node", node]), ...pods.map((pod) => ["pod", pod])] : [];
    this.#pods = new Set(text ? pods : []);
    this.#places = null;
    const wanted = text.toLowerCase();
    const exact = ([kind, i]) => (kind === "node" ? playback.nodes.names[i] : playback.pods.keys[i].slice(playback.pods.keys[i].indexOf("/") + 1)).toLowerCase() === wanted;
    const again = before ? this.hits.findIndex(([kind, i]) => kind === before[0] && i === before[1]) : -1;
    const named = this.hits.findIndex(exact);
    this.at = Math.max(0, named >= 0 ? named : again);
    this.view.emit("found");
  }

  /** End it; who has the field empties it. */
  end() { this.show("", [], []); }

  /** `["node" | "pod", its number]` of what one is at, null without. */
  get current() { return this.hits[this.at] ?? null; }

  /** Go to the next, or with -1 to the one before; after the last comes the first. */
  go(by) {
    const { length } = this.hits;
    if (!length) return;
    this.at = (this.at + by + length) % length;
    this.view.emit("found");
  }

  /** Select what one is at. */
  select() {
    const [kind, i] = this.current ?? [];
    if (kind === "node") this.view.selectNode(i);
    else if (kind === "pod") this.view.selectPod(i);
  }

  /** Whether what one is at is selected. */
  get selected() {
    const [kind, i] = this.current ?? [];
    return kind === "node" ? this.view.node === i : kind === "pod" && this.view.pod === i;
  }

  /** Of each node how many of the found are there, itself among them. */
  get places() {
    if (this.#places) return this.#places;
    const { cluster } = this.view.playback;
    this.#places = new Map();
    for (const [kind, i] of this.hits) {
      const node = kind === "node" ? i : cluster.placement[i];
      if (node >= 0) this.#places.set(node, (this.#places.get(node) ?? 0) + 1);
    }
    return this.#places;
  }

  /** Whether a pod is among the found. */
  has(pod) { return this.#pods.has(pod); }
}
