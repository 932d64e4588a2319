// What stands in the paste box, kept in this browser until it is a draft.

const KEPT = "podstep.paste";
const KEPT_MOST = 2_000_000; // characters; browsers keep about five million

/** What was there last time. */
export function kept() {
  try {
    return { text: "", title: "", ...JSON.parse(localStorage.getItem(KEPT) ?? "{}") };
  } catch {
    return { text: "", title: "" };
  }
}

/** Keep a text, where it is not too long for that. */
export function keep(text: string, title: string) {
  try {
    if (text.length < KEPT_MOST) localStorage.setItem(KEPT, JSON.stringify({ text, title }));
  } catch {
    /* storage is off: for this page only */
  }
}

export function forget() {
  try {
    localStorage.removeItem(KEPT);
  } catch {
    /* storage is off */
  }
}
