// The question that a room is asked, over the stage: viewers vote, who leads sees how many have, and once it is
// revealed everybody sees the tally and the scheduler's answer.

import { h, announce, fill, icon, toast } from "../../lib/dom.js";
import { count, plural, short } from "../../lib/quantity.js";
import { refusalOf } from "../../lib/socket.js";
import { KINDS } from "./ask.js";
import { ballot, worded } from "./options.js";
/** @import { Answer, Question } from "../../lib/protocol.js" */
/** @import { View } from "../view.js" */
/** @import { Room } from "./room.js" */

const VOTE = "podstep.vote"; // of this tab: the answer that was given last
const ANSWERED = ["choice", "lesson"]; // kinds whose answer is not only the scheduler's
const BARS = 8; // that are shown of a tally

export class QuestionPanel {
  #drawn = ""; // the question, and the state of it, that is drawn
  /** @type {{ number: number, answer: Answer } | null} */
  #given = null;
  #small = false;

  /**
   * @param {Room} room
   * @param {View} view
   */
  constructor(room, view) {
    this.room = room;
    this.view = view;
    this.votes = h("span", { class: "question-votes num", role: "status" });
    this.body = h("div", { class: "question-body" });
    this.title = h("h2");
    this.about = h("span", { class: "dim" });
    this.fold = h("button", { type: "button", class: "btn quiet square", onclick: () => this.#fold(!this.#small) });
    this.element = h(
      "section",
      { class: "question", hidden: true, "aria-label": "Prediction" },
      h("header", null, h("div", null, this.title, this.about), h("span", { class: "grow" }), this.votes, this.fold),
      this.body,
    );
    this.#given = kept(room.id);
    room.on("changed", () => this.update());
    room.on("question", (question) => {
      if (question) {
        this.#fold(false);
        announce(`A question: ${titleOf(question)}`);
      }
    });
  }

  /** @param {boolean} small */
  #fold(small) {
    this.#small = small;
    this.body.hidden = small;
    this.fold.setAttribute("aria-label", small ? "Expand the question" : "Collapse the question");
    this.fold.setAttribute("aria-expanded", String(!small));
    fill(this.fold, icon(small ? "plus" : "minus"));
  }

  update() {
    const { question, leads, watching } = this.room;
    this.element.hidden = !question || !this.view.playback.nodes;
    if (this.element.hidden || !question) return;
    const { votes, revealed } = question;
    this.votes.textContent =
      leads && !revealed ? `${count(votes)} of ${count(Math.max(votes, watching))} voted` : plural(votes, "vote");
    const given = this.#answerTo(question);
    const state = JSON.stringify([question.number, revealed, leads, given, question.tally]);
    if (state === this.#drawn) return;
    this.#drawn = state;
    this.element.classList.toggle("voting", !leads && !revealed);
    this.title.textContent = titleOf(question);
    const cycle = question.pod ? `Cycle ${question.index}: ${short(question.pod)}` : "";
    this.about.textContent = [cycle, question.round === 2 ? "second vote" : ""].filter(Boolean).join(" · ");
    fill(
      this.body,
      revealed ? this.#tally(question, given) : leads ? null : this.#ballot(question, given),
      this.#acts(),
    );
    if (revealed && question.answer !== null) announce(`The scheduler's answer: ${worded(question, question.answer)}`);
  }

  /**
   * @param {Question} question
   * @returns {Answer | undefined}
   */
  #answerTo({ number }) {
    return this.#given?.number === number ? this.#given.answer : undefined;
  }

  /** What who leads can do with it. */
  #acts() {
    const { question, leads } = this.room;
    if (!leads || !question) return null;
    const act = (/** @type {() => Promise<void>} */ run) => () =>
      run().catch((error) => toast(refusalOf(error).message, { name: "warn", ms: 6000 }));
    return h(
      "div",
      { class: "question-acts" },
      question.revealed
        ? null
        : h(
            "button",
            { type: "button", class: "btn primary big", onclick: act(() => this.room.reveal()) },
            icon("check"),
            "Reveal",
          ),
      question.revealed || question.round === 2
        ? null
        : h(
            "button",
            {
              type: "button",
              class: "btn big",
              title: "Let them discuss, and vote a second time; both results are shown with the answer",
              onclick: act(() => this.room.again()),
            },
            icon("redo"),
            "Vote again",
          ),
      h(
        "button",
        { type: "button", class: "btn big", onclick: act(() => this.room.close()) },
        icon("close"),
        "Dismiss",
      ),
    );
  }

  /**
   * @param {Question} question
   * @param {Answer | undefined} given
   */
  #ballot(question, given) {
    const vote = async (/** @type {Answer} */ answer) => {
      try {
        const { number } = await this.room.vote(answer);
        this.#given = { number, answer };
        keep(this.room.id, this.#given);
        const focused = document.activeElement?.textContent;
        this.update();
        for (const one of this.body.querySelectorAll("button.ballot-answer"))
          if (one.textContent === focused) one.focus();
        announce(`You said ${worded(question, answer)}.`);
      } catch (error) {
        toast(refusalOf(error).message, { name: "warn", ms: 6000 });
      }
    };
    return [
      ballot(question, this.view, given, vote),
      h("p", {
        class: "dim question-note",
        text:
          given === undefined
            ? "You see the cluster as the cycle finds it; what follows is hidden until the leader reveals it."
            : `You said ${worded(question, given)}. You can change it until the leader reveals the result.`,
      }),
    ];
  }

  /**
   * @param {Question} question
   * @param {Answer | undefined} given
   */
  #tally(question, given) {
    const { votes, tally = [], others = 0, answer, before, why = [] } = question;
    const same = (/** @type {Answer | null | undefined} */ one, /** @type {Answer | null | undefined} */ other) =>
      JSON.stringify(one) === JSON.stringify(other);
    const known = answer !== null && answer !== undefined;
    const accepted = question.accepted ?? (known ? [answer] : []); // of a lesson there may be several
    const isRight = (/** @type {Answer | undefined} */ one) => accepted.some((other) => same(one, other));
    const rows = tally.slice(0, BARS);
    const right = tally.find(([one]) => isRight(one));
    if (known && right && !rows.includes(right)) rows.push(right);
    if (known && !right) rows.unshift([answer, 0]);
    for (const [one] of before?.tally ?? [])
      if (rows.length < BARS && !rows.some(([other]) => same(one, other))) rows.push([one, 0]);
    const rest = others + tally.filter((row) => !rows.includes(row)).reduce((sum, [, n]) => sum + n, 0);
    const first = (/** @type {Answer} */ one) => before?.tally.find(([other]) => same(one, other))?.[1] ?? 0;
    const bar = (
      /** @type {string} */ label,
      /** @type {number} */ n,
      /** @type {string} */ look,
      mine = false,
      earlier = 0,
    ) =>
      h(
        "li",
        { class: look },
        h(
          "span",
          { class: "tally-label" },
          look ? icon("check") : null,
          h("b", { text: label }),
          mine ? " · you" : null,
        ),
        h(
          "span",
          { class: "tally-bar" },
          before
            ? h("i", { class: "first", style: { width: `${before.votes ? (100 * earlier) / before.votes : 0}%` } })
            : null,
          h("i", { style: { width: `${votes ? (100 * n) / votes : 0}%` } }),
        ),
        h("span", {
          class: "num",
          text: before ? `${count(earlier)} → ${count(n)}` : count(n),
          title: before ? `${count(earlier)} in the first vote, ${count(n)} in the second` : undefined,
        }),
      );
    return [
      h(
        "ol",
        { class: before ? "tally twice" : "tally" },
        rows.map(([one, n]) =>
          bar(worded(question, one), n, isRight(one) ? "right" : "", same(one, given), first(one)),
        ),
        rest ? bar("other answers", rest, "") : null,
      ),
      known
        ? h(
            "p",
            { class: "question-note" },
            ANSWERED.includes(question.kind) ? "The answer: " : "The scheduler's answer: ",
            h("b", { text: worded(question, answer) }),
            given === undefined ? null : isRight(given) ? ". You were right." : ".",
          )
        : null,
      why.length ? h("p", { class: "dim question-note question-why", text: why.join(" ") }) : null,
    ];
  }
}

/** @param {Question} question */
const titleOf = ({ kind, text }) => text || (kind === "lesson" ? "A question" : KINDS[kind][0]);

/** @param {string} room */
function kept(room) {
  try {
    return JSON.parse(sessionStorage.getItem(`${VOTE}.${room}`) ?? "null");
  } catch {
    return null;
  }
}

/**
 * @param {string} room
 * @param {{ number: number, answer: Answer }} given
 */
function keep(room, given) {
  try {
    sessionStorage.setItem(`${VOTE}.${room}`, JSON.stringify(given));
  } catch {
    /* until the page is left */
  }
}
