// How far a longer task is: a bar, a description, and a button that cancels it. A screen reader reads the bar when it
// is visited, not at every step; whoever shows one announces it.

import { h, icon } from "./dom.js";
import { count } from "./quantity.js";
/** @import { Report } from "./protocol.js" */

const MEBIBYTE = 1024 * 1024;

export class Progress {
  /**
   * `label` names the bar; `onCancel`, where it can be given up, and what the button is called.
   *
   * @param {string} label
   * @param {{onCancel?: () => void, cancel?: string}} [options]
   */
  constructor(label, { onCancel, cancel = "Cancel" } = {}) {
    this.fillBar = h("i");
    this.bar = h(
      "div",
      { class: "progress-bar", role: "progressbar", "aria-label": label, "aria-valuemin": "0", "aria-valuemax": "100" },
      this.fillBar,
    );
    this.words = h("span", { class: "progress-words num" });
    this.button = onCancel
      ? h("button", { type: "button", class: "btn progress-cancel", onclick: onCancel }, icon("close"), cancel)
      : null;
    this.element = h("div", { class: "progress" }, this.words, this.bar, this.button);
    this.set(null, label);
  }

  /**
   * Show a share from 0 to 1, null where nobody knows how much there is, and the words for it.
   *
   * @param {number | null} share
   * @param {string} words
   */
  set(share, words) {
    const known = share !== null;
    const percent = known ? Math.max(0, Math.min(100, Math.round(share * 100))) : 0;
    this.element.classList.toggle("unknown", !known);
    if (known) this.bar.setAttribute("aria-valuenow", String(percent));
    else this.bar.removeAttribute("aria-valuenow");
    if (this.words.textContent !== words) {
      this.words.textContent = words;
      this.bar.setAttribute("aria-valuetext", words);
    }
    this.fillBar.style.setProperty("transform", `scaleX(${known ? percent / 100 : 1})`);
  }
}

/** @param {number} n */
export const bytes = (n) => (n < MEBIBYTE ? `${count(Math.round(n / 1024))} KiB` : `${(n / MEBIBYTE).toFixed(1)} MiB`);

// Of reading a bundle: the words, the share of the whole at which a stage begins, and how much of it the stage is.
/** @type {Record<string, [words: string, from: number, wide: number]>} */
const STAGES = {
  sending: ["Uploading", 0, 0.1],
  reading: ["Reading the text", 0.1, 0.4],
  checking: ["Checking the objects", 0.5, 0.3],
  assembling: ["Assembling the cluster", 0.8, 0.2],
};

/**
 * A report `{stage, done, of}` as the share of the whole and words.
 *
 * @param {Report} report
 * @returns {[share: number, words: string]}
 */
export function progressOf({ stage, done, of }) {
  const [words, from, wide] = STAGES[stage] ?? STAGES.reading;
  const share = of > 0 ? Math.min(1, done / of) : 0;
  const amount =
    stage === "checking" || stage === "assembling"
      ? `${count(done)} of ${count(of)}`
      : `${bytes(done)} of ${bytes(of)}`;
  return [from + wide * share, `${words}: ${amount}`];
}
