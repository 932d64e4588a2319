// What stands in the paste box, kept in this browser until it is a draft.

import type { LeftOut } from "./protocol.js";
import { plural } from "./quantity.ts";

const KEPT = "podstep.paste";
const KEPT_MOST = 2_000_000; // characters; browsers keep about five million

const LEFT = "podstep.left"; // of a text that was opened, until its page says so

/** What of a text was not stored, in words; "" if all of it was. */
export function unstored({ env, commands, secrets }: LeftOut) {
  const parts = [
    env && plural(env, "env value"),
    commands && plural(commands, "command line"),
    secrets && `the data of ${plural(secrets, "Secret")}`,
  ].filter(Boolean);
  return parts.length ? `Not stored: ${parts.join(", ")}. Scheduling reads none of it.` : "";
}

/** Remember for the next page what of the text was not stored. */
export function noteLeft(left?: LeftOut) {
  if (!left || !unstored(left)) return;
  try {
    sessionStorage.setItem(LEFT, JSON.stringify(left));
  } catch {
    /* storage is off: the form says it */
  }
}

/** What was not stored of the text that was opened on the page before, once. */
export function takeLeft(): LeftOut | null {
  try {
    const found = sessionStorage.getItem(LEFT);
    sessionStorage.removeItem(LEFT);
    return found ? JSON.parse(found) : null;
  } catch {
    return null;
  }
}

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
