// Session: one pass of kube-batch, step by step. Above its steps are the shares of queues and jobs as of the step that
// is picked, and the rounds in which proportion divided the cluster; below them how it ended.

import { h, fill } from "../../lib/dom.js";
import { inline } from "../../lib/inline.js";
import { clock, count, plural, short } from "../../lib/quantity.js";
import { tabled } from "../../lib/tables.js";
import { before, later } from "./byhand.js";
import { linked, podLink } from "./byhand.js";
import { Steps } from "./session/steps.js";
import { part as portion, queues, rounds } from "./session/shares.js";
/** @import { SessionJob, SessionPart, SessionShares } from "../../lib/protocol.js" */
/** @import { View } from "../view.js" */

export class Session {
  /** @type {SessionPart | null} */
  #part = null; // that is drawn
  #kept; // what is sorted and looked for

  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.#kept = view.lists.of("session");
    this.shares = h("div", { class: "session-shares" });
    this.jobs = h("div");
    this.steps = new Steps(view, (shares) => this.#share(shares));
    this.element = h("div", { class: "session-tab" });
    view.on(
      "sub",
      () => {
        if (this.#part && this.element.isConnected) this.steps.pick(view.sub);
      },
      view.panels,
    );
  }

  update() {
    const { view } = this;
    const found = view.playback.parts?.session;
    if (!view.playback.current || found?.why !== undefined) {
      this.#part = null;
      fill(this.element, view.playback.current ? this.#empty(String(found?.why ?? "")) : before(view));
      return;
    }
    const part = /** @type {SessionPart | undefined} */ (found);
    this.element.classList.toggle("waiting", !part);
    if (!part || part === this.#part) return;
    this.#part = part;
    fill(this.element, this.#head(part), this.shares, rounds(part), this.jobs, this.steps.element, this.#end(part));
    this.steps.show(part, view.sub);
  }

  /** @param {string} why */
  #empty(why) {
    if (this.view.playback.current?.result === "undecided" && this.view.playback.current.profile)
      return later(this.view, why);
    const nearest = inline(() => this.view.setTab("story"), { title: "what this step is" }, "the story of this step");
    return h(
      "div",
      { class: "empty" },
      h("b", { text: "No session of kube-batch is shown." }),
      h("span", { text: why }),
      h("span", null, "Read ", nearest, ", or step on to one that kube-batch places pods in."),
    );
  }

  /** @param {SessionPart} part */
  #head(part) {
    return h(
      "header",
      { class: "session-head" },
      h(
        "h3",
        null,
        `Session ${count(part.number)} `,
        h("small", { class: "dim num end", text: `t = ${clock(part.time)}` }),
      ),
      h(
        "p",
        null,
        h(
          "span",
          { class: "session-actions" },
          part.actions.map((name, i) => [i ? " → " : "", h("b", { text: name })]),
        ),
        " ",
        h("span", { class: `pill ${part.bound ? "pass" : ""}`, text: `${count(part.bound)} bound` }),
        part.evicted ? [" ", h("span", { class: "pill victim", text: `${count(part.evicted)} evicted` })] : null,
        " ",
        h("a", { class: "ref", href: "/reference/kube-batch/", text: "reference" }),
      ),
    );
  }

  /**
   * Draw who has what as of a step.
   *
   * @param {{ shares: SessionShares, as: string }} given
   */
  #share({ shares, as }) {
    const part = this.#part;
    if (!part) return;
    fill(this.shares, queues(part, shares, as));
    fill(this.jobs, this.#jobs(part, shares, as));
  }

  /**
   * @param {SessionPart} part
   * @param {SessionShares} shares
   * @param {string} as
   */
  #jobs(part, shares, as) {
    if (!part.jobs.length) return null;
    const head = (/** @type {string} */ text, more = {}) => h("th", { scope: "col", text, ...more });
    const rows = part.jobs.map((job) => this.#job(job, shares.jobs[job.job]?.[1] ?? job.share?.[0] ?? null));
    return h(
      "section",
      { class: "session-jobs" },
      tabled(
        h(
          "table",
          { class: "list tight" },
          h("caption", { class: "sr", text: `Jobs of the session, shares ${as}` }),
          h(
            "thead",
            null,
            h(
              "tr",
              null,
              head("job"),
              head("share", { class: "num", title: "drf: the highest part of any resource of the cluster" }),
              head("held", { class: "num", title: "tasks that were placed: Allocated or Pipelined" }),
              head("bound", { class: "num", title: "tasks that were sent to their nodes" }),
              head("became"),
            ),
          ),
          h("tbody", null, rows),
        ),
        {
          head: h("h4", null, "Jobs ", h("small", { class: "dim num", text: count(part.jobCount) })),
          filter: "Filter jobs",
          kept: this.#kept,
          name: "jobs",
        },
      ),
      more(part.jobCount - part.jobs.length),
    );
  }

  /**
   * @param {SessionJob} job
   * @param {number | null} share
   */
  #job(job, share) {
    const { view } = this;
    const [action, task, why] = job.dropped.at(-1) ?? [];
    return h(
      "tr",
      null,
      h(
        "th",
        { scope: "row" },
        inline(() => view.setSub(`@${job.job}`), { title: `the steps of job ${job.job}` }, short(job.job)),
      ),
      h("td", { class: "num", "data-value": share ?? "" }, share === null ? "–" : portion(share, job.dominant)),
      h("td", { class: "num", text: count(job.placed) }),
      h("td", { class: "num", text: count(job.bound) }),
      h(
        "td",
        { class: "session-became" },
        job.phase ? h("span", { class: `pill ${job.phase === "Running" ? "pass" : ""}`, text: job.phase }) : null,
        job.evicted ? [" ", h("span", { class: "pill victim", text: `${count(job.evicted)} evicted` })] : null,
        job.forgotten
          ? [
              " ",
              h("span", {
                class: "pill fail",
                title: "held until the close",
                text: `${count(job.forgotten)} forgotten`,
              }),
            ]
          : null,
        why
          ? h(
              "span",
              { class: "job-note" },
              `dropped by ${action} at `,
              podLink(view, task, { dot: false }),
              `: ${why}`,
            )
          : null,
        job.invalid ? h("span", { class: "job-note dim", text: job.invalid }) : null,
      ),
    );
  }

  /** @param {SessionPart} part */
  #end(part) {
    const { view } = this;
    return [
      this.#table(
        "Statuses",
        "PodGroup statuses written",
        part.groupsCount,
        ["PodGroup", "phase", "running", "condition"],
        [
          ...part.groups.map(([key, phase, running, , , message]) =>
            h(
              "tr",
              null,
              h("th", { scope: "row", text: short(key) }),
              h("td", { text: phase }),
              h("td", { class: "num", text: count(running) }),
              h("td", { class: "session-became", text: message ? `Unschedulable: ${message}` : "–" }),
            ),
          ),
        ],
      ),
      this.#table(
        "Statements",
        "Statements of the session",
        part.statementsCount,
        ["action", "job", "operations", "end"],
        [
          ...part.statements.map(([action, job, how, operations]) =>
            h(
              "tr",
              null,
              h("td", { text: action }),
              h("th", { scope: "row", text: short(job) }),
              h("td", { class: "num", text: count(operations) }),
              h("td", null, h("span", { class: `pill ${how === "discarded" ? "fail" : "pass"}`, text: how })),
            ),
          ),
        ],
      ),
      this.#table(
        "Events",
        "Events of the session",
        part.eventsCount,
        ["reason", "object", "message"],
        [
          ...part.events.map(([, reason, object, message]) =>
            h(
              "tr",
              null,
              h("th", { scope: "row", text: reason }),
              h("td", { class: "session-became", text: object }),
              h("td", { class: "session-became" }, linked(view, message)),
            ),
          ),
        ],
      ),
      this.#table(
        "Left out",
        "Objects that the session ignores",
        part.leftOutCount,
        ["object", "why"],
        [
          ...part.leftOut.map(([kind, name, why]) =>
            h(
              "tr",
              null,
              h("th", { scope: "row", text: `${kind} ${name}` }),
              h("td", { class: "session-became", text: why }),
            ),
          ),
        ],
      ),
      part.omitted
        ? h("p", { class: "dim fine", text: `${plural(part.omitted, "more step")} were not recorded.` })
        : null,
    ];
  }

  /**
   * @param {string} title
   * @param {string} caption
   * @param {number} all
   * @param {string[]} heads
   * @param {HTMLTableRowElement[]} rows
   */
  #table(title, caption, all, heads, rows) {
    if (!rows.length) return null;
    return h(
      "section",
      { class: "session-end" },
      tabled(
        h(
          "table",
          { class: "list tight" },
          h("caption", { class: "sr", text: caption }),
          h(
            "thead",
            null,
            h(
              "tr",
              null,
              heads.map((text) => h("th", { scope: "col", text })),
            ),
          ),
          h("tbody", null, rows),
        ),
        {
          head: h("h4", null, `${title} `, h("small", { class: "dim num", text: count(all) })),
          filter: `Filter ${title.toLowerCase()}`,
          kept: this.#kept,
          name: title.toLowerCase(),
        },
      ),
      more(all - rows.length),
    );
  }
}

/** @param {number} left */
const more = (left) => (left > 0 ? h("p", { class: "dim fine", text: `and ${count(left)} more` }) : null);
