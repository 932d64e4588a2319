// One thread: what it is about, the comments, and what can be done with it.

import { $, h, fill, icon, toast } from "../../lib/dom.js";
import { short } from "../../lib/quantity.js";
import { refusalOf } from "../../lib/socket.js";
import { commentForm } from "./form.js";
import { markdown } from "./markdown.js";
/** @import { Comment, Thread } from "../../lib/protocol.js" */
/** @import { Threads } from "./threads.js" */

/** @param {string} date */
const when = (date) => new Date(date).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });

/**
 * What a thread is about, in a few words.
 *
 * @param {{ step: string, node?: string | null, pod?: string | null, rule?: string | null }} anchor
 */
export const anchored = ({ step, node, pod, rule }) =>
  [step === "0" ? "the start" : step === "end" ? "the end" : `step ${step}`, node, pod && short(pod), rule]
    .filter(Boolean)
    .join(" · ");

/** @param {NonNullable<Thread["about"]>} about */
function decided({ pod, result, node }) {
  if (!pod) return "";
  return `When it was written: ${short(pod)} ${node ? `went to ${node}` : (result ?? "was tried")}.`;
}

/**
 * @param {Thread} thread
 * @param {Threads} threads
 * @param {(thread: Thread) => void} go
 * @param {string} [here] how what it is about is decided where the page is, if otherwise
 */
export function threadItem(thread, threads, go, here = "") {
  const below = h("div");
  const act = (/** @type {() => Promise<unknown>} */ run) => () =>
    run().catch((error) => toast(refusalOf(error).message, { name: "warn", ms: 6000 }));
  const form = (/** @type {Parameters<typeof commentForm>[0]} */ options) => {
    const send = async (/** @type {string} */ text, /** @type {string} */ name) => {
      fill(below); // nobody is writing any more: the thread is drawn again with what is written
      try {
        await options.send(text, name);
        $(`[data-thread="${thread.id}"] .link`)?.focus();
      } catch (error) {
        fill(below, element);
        throw error;
      }
    };
    const { form: element, field } = commentForm({ ...options, send, onCancel: () => fill(below) });
    fill(below, element);
    field.focus();
  };
  const button = (/** @type {string} */ text, /** @type {() => unknown} */ onclick) =>
    h("button", { type: "button", class: "link", text, onclick });
  /** @param {Comment} one */
  const comment = (one) =>
    h(
      "div",
      { class: threads.isNew(one) ? "comment is-new" : "comment", id: `comment-${one.id}`, tabindex: "-1" },
      h(
        "div",
        { class: "comment-head" },
        h("b", { text: one.removed ? "Removed" : one.name || (one.mine ? "You" : "Somebody") }),
        h("time", { class: "dim", datetime: one.created, text: when(one.created) }),
        one.edited ? h("span", { class: "dim", text: "edited" }) : null,
        threads.isNew(one) ? h("span", { class: "pill accent", text: "new" }) : null,
      ),
      h("div", { class: "comment-text" }, one.removed ? null : markdown(one.text)),
      one.mine && !one.removed && !threads.readOnly
        ? h(
            "div",
            { class: "comment-acts" },
            button("Edit", () =>
              form({
                label: "Your comment",
                action: "Save",
                text: one.text,
                named: false,
                send: (text) => threads.edit(one.id, text),
              }),
            ),
            button(
              "Remove",
              act(() => threads.remove(one)),
            ),
          )
        : null,
    );
  return h(
    "li",
    { class: thread.resolved ? "thread resolved" : "thread", "data-thread": thread.id },
    h(
      "div",
      { class: "thread-head" },
      h("button", { type: "button", class: "link", onclick: () => go(thread) }, `About ${anchored(thread)}`),
      h("span", { class: "grow" }),
      thread.resolved ? h("span", { class: "pill pass" }, icon("check"), "resolved") : null,
    ),
    thread.about && decided(thread.about) ? h("p", { class: "dim", text: decided(thread.about) }) : null,
    here ? h("p", { class: "comment-here" }, icon("fork"), h("span", { text: here })) : null,
    comment(thread),
    thread.replies.map(comment),
    below,
    h(
      "div",
      { class: "comment-acts" },
      threads.readOnly
        ? h("a", { href: thread.url, text: "Answer it in the shared scenario" })
        : [
            button("Answer", () =>
              form({
                label: "Your answer",
                action: "Answer",
                send: (text, name) => threads.write({ parent: thread.id }, text, name),
              }),
            ),
            button(
              thread.resolved ? "Open again" : "Resolve",
              act(() => threads.resolve(thread)),
            ),
          ],
    ),
  );
}
