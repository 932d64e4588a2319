// The steps of a session: a list by action, narrowed to an action or a job, of which one is picked and shown in detail.
// What is picked is in the address as `number@job`, of which either may be missing.

import { h, fill } from "../../../lib/dom.js";
import { count, short } from "../../../lib/quantity.js";
import { sentence } from "../byhand.js";
import { detail } from "./detail.js";
/** @import { SessionPart, SessionShares, SessionStep, SessionSteps } from "../../../lib/protocol.js" */
/** @import { View } from "../../view.js" */

const PAGE = 150;
const SUB = /^(\d*)(?:@(.*))?$/;

export class Steps {
  /** @type {SessionPart | null} */
  #part = null;
  /** @type {SessionSteps | null} */
  #page = null;
  #cycle = 0; // of the part
  #action = "";
  #job = "";
  #asked = ""; // the page that the server was asked for
  #picked = -1; // the number of the step that is shown

  /**
   * @param {View} view
   * @param {(given: { shares: SessionShares, as: string }) => void} share
   */
  constructor(view, share) {
    this.view = view;
    this.share = share;
    this.element = h("section", { class: "session-steps", "aria-label": "Steps of the session" });
  }

  /**
   * Show the steps of another session.
   *
   * @param {SessionPart} part
   * @param {string} sub
   */
  show(part, sub) {
    this.#part = part;
    this.#page = part.steps;
    this.#cycle = this.view.playback.asOf;
    this.#action = "";
    this.#job = "";
    this.#picked = -1;
    this.#asked = "";
    this.pick(sub);
  }

  /**
   * Show the step and the job of an address.
   *
   * @param {string} sub
   */
  pick(sub) {
    const [, number = "", job = ""] = SUB.exec(sub) ?? [];
    this.#picked = number ? Number(number) : -1;
    if (job === this.#job) this.#draw();
    else {
      this.#job = job;
      this.#fetch(0);
    }
  }

  /** @param {number} from */
  async #fetch(from) {
    const { playback } = this.view;
    const asked = { cycle: this.#cycle, from, count: PAGE, action: this.#action, job: this.#job };
    const wanted = JSON.stringify(asked);
    this.#asked = wanted;
    this.element.classList.add("waiting");
    try {
      const found = await playback.socket.call("kubebatch.steps", { source: playback.source, ...asked });
      if (this.#asked !== wanted) return;
      this.#page = found;
      this.element.classList.remove("waiting");
      this.#draw();
    } catch (error) {
      if (this.#asked !== wanted || error.code === "request.superseded") return;
      this.element.classList.remove("waiting");
      fill(this.element, h("p", { class: "dim", text: error.message }));
    }
  }

  /** @param {number} number */
  #go(number) {
    this.view.setSub(`${number < 0 ? "" : number}${this.#job ? `@${this.#job}` : ""}`);
  }

  #draw() {
    const [part, page] = [this.#part, this.#page];
    if (!part || !page) return;
    const at = page.rows.findIndex(({ number }) => number === this.#picked);
    this.share(this.#accounts(part, page, at));
    const focused = this.element.contains(document.activeElement);
    const list = h("ol", { class: "session-list" });
    let action = "?";
    for (const row of page.rows) {
      if (row.action !== action) {
        action = row.action;
        list.append(h("li", { class: "session-action", text: action || "opening" }));
      }
      list.append(this.#row(row, row.number === this.#picked));
    }
    fill(this.element, this.#tools(part, page, at), list, this.#pages(page));
    const now = this.element.querySelector("li.now > button");
    if (focused) /** @type {HTMLElement | null} */ (now)?.focus({ preventScroll: true });
    now?.scrollIntoView({ block: "nearest" });
  }

  /**
   * Who has what after the picked step; without one at the start.
   *
   * @param {SessionPart} part
   * @param {SessionSteps} page
   * @param {number} at
   */
  #accounts(part, page, at) {
    if (at < 0) {
      const whole = {
        queues: Object.fromEntries(part.queues.map(({ queue, allocated, share }) => [queue, [allocated[1], share[1]]])),
        jobs: Object.fromEntries(
          part.jobs.flatMap(({ job, share, dominant }) => (share ? [[job, [{}, share[1], dominant]]] : [])),
        ),
      };
      return { shares: /** @type {SessionShares} */ (/** @type {unknown} */ (whole)), as: "at the end of the session" };
    }
    const shares = { queues: { ...page.accounts.queues }, jobs: { ...page.accounts.jobs } };
    for (const row of page.rows.slice(0, at + 1)) {
      Object.assign(shares.queues, row.shares.queues);
      Object.assign(shares.jobs, row.shares.jobs);
    }
    return { shares, as: `after step ${count(this.#picked + 1)}` };
  }

  /**
   * @param {SessionPart} part
   * @param {SessionSteps} page
   * @param {number} at
   */
  #tools(part, page, at) {
    const chosen = (/** @type {string} */ action, /** @type {string} */ text) =>
      h("button", {
        type: "button",
        "aria-pressed": String(this.#action === action),
        onclick: () => {
          this.#action = action;
          this.#fetch(0);
        },
        text,
      });
    const next = page.rows[at + 1];
    const previous = page.rows[at - 1];
    return h(
      "div",
      { class: "session-tools" },
      h("h4", null, "Steps ", h("small", { class: "dim num", text: count(page.count) })),
      h(
        "div",
        { class: "seg", role: "group", "aria-label": "Steps of one action" },
        chosen("", "all"),
        [...new Set(part.actions)].map((name) => chosen(name, name)),
        chosen("close", "close"),
      ),
      this.#job
        ? h("button", {
            type: "button",
            class: "btn small",
            title: "Show the steps of all jobs",
            onclick: () => this.view.setSub(this.#picked < 0 ? "" : String(this.#picked)),
            text: `job ${short(this.#job)} ×`,
          })
        : null,
      h("span", { class: "grow" }),
      h("button", {
        type: "button",
        class: "btn small",
        disabled: !previous || undefined,
        onclick: () => this.#go(previous.number),
        text: "Previous step",
      }),
      h("button", {
        type: "button",
        class: "btn small",
        disabled: !next || undefined,
        onclick: () => this.#go(next.number),
        text: "Next step",
      }),
    );
  }

  /**
   * @param {SessionStep} row
   * @param {boolean} now
   */
  #row(row, now) {
    return h(
      "li",
      { class: `session-step is-${row.step}${now ? " now" : ""}` },
      h("button", {
        type: "button",
        class: "num",
        "aria-pressed": String(now),
        "aria-label": `Step ${row.number + 1}`,
        title: now ? "Close the step" : "Show the step, and who has what after it",
        onclick: () => this.#go(now ? -1 : row.number),
        text: String(row.number + 1),
      }),
      h("div", null, sentence(this.view, row.text), now && row.detail ? detail(this.view, row.detail) : null),
    );
  }

  /** @param {SessionSteps} page */
  #pages(page) {
    if (page.count <= page.rows.length) return null;
    const to = page.from + page.rows.length;
    return h(
      "p",
      { class: "session-pages" },
      h("button", {
        type: "button",
        class: "btn small",
        disabled: !page.from || undefined,
        onclick: () => this.#fetch(Math.max(0, page.from - PAGE)),
        text: "Earlier steps",
      }),
      h("span", { class: "num dim", text: `${count(page.from + 1)}–${count(to)} of ${count(page.count)}` }),
      h("button", {
        type: "button",
        class: "btn small",
        disabled: to >= page.count || undefined,
        onclick: () => this.#fetch(to),
        text: "Later steps",
      }),
    );
  }
}
