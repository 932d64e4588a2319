// What was typed and not sent yet, kept in this browser over a reload, a lost connection and a closed tab. Every tab
// keeps its own: two of them that type in the same place do not overwrite each other. What a tab left that is closed
// is taken over by the next one that opens the same place.

const TAB = "podstep.tab";
const ANSWERS_MS = 150; // in which open tabs answer
const LEFT = 8; // of one place, left by closed tabs: the oldest give way

/**
 * This tab's id, kept over a reload. While the page is open it is in no storage, so that a duplicated tab gets its own.
 */
const tab = (() => {
  let id = "";
  try {
    id = sessionStorage.getItem(TAB) ?? "";
    sessionStorage.removeItem(TAB);
  } catch {
    /* storage is off */
  }
  id ||= Math.random().toString(36).slice(2, 12);
  addEventListener("pagehide", () => {
    try {
      sessionStorage.setItem(TAB, id);
    } catch {
      /* storage is off */
    }
  });
  addEventListener("pageshow", ({ persisted }) => {
    if (persisted)
      try {
        sessionStorage.removeItem(TAB);
      } catch {
        /* storage is off */
      }
  });
  return id;
})();

export class Kept<K extends object> {
  key: string;
  #channel: BroadcastChannel | null = null;

  /** `place`: what is typed into, as `podstep.draft.<id>`. */
  constructor(readonly place: string) {
    this.key = `${place}.${tab}`;
    try {
      const channel = new BroadcastChannel(place);
      channel.addEventListener("message", ({ data }) => {
        if (data?.ask) channel.postMessage({ here: this.key });
      });
      this.#channel = channel;
    } catch {
      /* no other tab answers: what they keep stays theirs */
    }
  }

  /** What this tab keeps, null if nothing. */
  get(): K | null {
    return read(this.key);
  }

  /** Keep something that JSON can hold, or nothing (null). Whether there was room for it. */
  set(value: K | null) {
    try {
      if (value === null) localStorage.removeItem(this.key);
      else localStorage.setItem(this.key, JSON.stringify({ ...value, at: Date.now() }));
      return true;
    } catch {
      try {
        localStorage.removeItem(this.key);
      } catch {
        /* storage is off */
      }
      return false;
    }
  }

  /** What this tab keeps, else the newest that a closed tab left, which is this tab's from now on. */
  async adopt(): Promise<K | null> {
    const own = this.get();
    if (own || !this.#others().length || !this.#channel) return own;
    const alive = await this.#alive(this.#channel);
    const left = this.#others()
      .filter((key) => !alive.has(key))
      .map((key) => [key, read(key)] as const)
      .sort(([, one], [, other]) => (other?.at ?? 0) - (one?.at ?? 0));
    for (const [key, value] of left.slice(LEFT)) if (value) localStorage.removeItem(key);
    const [key, value] = left.find(([, found]) => found) ?? ["", null];
    if (value && this.set(value)) localStorage.removeItem(key);
    return value;
  }

  #others() {
    try {
      return Object.keys(localStorage).filter((key) => key !== this.key && key.startsWith(`${this.place}.`));
    } catch {
      return [];
    }
  }

  /** The keys of the tabs that are open. */
  #alive(channel: BroadcastChannel): Promise<Set<string>> {
    return new Promise((resolve) => {
      const alive: Set<string> = new Set();
      const note = ({ data }: MessageEvent) => {
        if (data?.here) alive.add(data.here);
      };
      channel.addEventListener("message", note);
      channel.postMessage({ ask: true });
      setTimeout(() => {
        channel.removeEventListener("message", note);
        resolve(alive);
      }, ANSWERS_MS);
    });
  }
}

function read(key: string) {
  try {
    const value = JSON.parse(localStorage.getItem(key) ?? "null");
    return value && typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}
