// One thread: what it is about, the comments, and what can be done with it.

import { useState } from "preact/hooks";
import { Button } from "../../kit/button.tsx";
import { Icon } from "../../kit/icon.tsx";
import { $ } from "../../lib/dom.ts";
import type { Comment, Thread } from "../../lib/protocol.js";
import { short } from "../../lib/quantity.ts";
import { CommentForm } from "./form.tsx";
import { Markdown } from "./markdown.tsx";
import type { Threads } from "./threads.ts";

const when = (date: string) => new Date(date).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });

type Place = { step: string; node?: string | null; pod?: string | null; rule?: string | null };

/** What a thread is about, in a few words. */
export const anchored = ({ step, node, pod, rule }: Place) =>
  [step === "0" ? "the start" : step === "end" ? "the end" : `step ${step}`, node, pod && short(pod), rule]
    .filter(Boolean)
    .join(" · ");

function decided(about: Thread["about"]) {
  if (!about?.pod) return "";
  const what = about.node ? `went to ${about.node}` : (about.result ?? "was tried");
  return `When it was written: ${short(about.pod)} ${what}.`;
}

type ThreadProps = {
  thread: Thread;
  threads: Threads;
  go: (thread: Thread) => void;
  /** How what it is about is decided where the page is, if otherwise. */
  here?: string;
};

export function ThreadItem({ thread, threads, go, here = "" }: ThreadProps) {
  const [writing, setWriting] = useState<Comment | "answer" | null>(null); // the comment that is edited
  const about = decided(thread.about);
  const link = (text: string, act: () => unknown) => (
    <Button look="link" act={act}>
      {text}
    </Button>
  );
  const sent = () => {
    setWriting(null);
    $(`[data-thread="${thread.id}"] .link`)?.focus();
  };
  const answer = (text: string, name: string) => threads.write({ parent: thread.id }, text, name).then(sent);
  const cancel = () => setWriting(null);
  return (
    <li class={thread.resolved ? "thread resolved" : "thread"} data-thread={thread.id}>
      <div class="thread-head">
        {link(`About ${anchored(thread)}`, () => go(thread))}
        <span class="grow" />
        {thread.resolved ? (
          <span class="pill pass">
            <Icon name="check" />
            resolved
          </span>
        ) : null}
      </div>
      {about ? <p class="dim">{about}</p> : null}
      {here ? (
        <p class="comment-here">
          <Icon name="fork" />
          <span>{here}</span>
        </p>
      ) : null}
      {[thread, ...thread.replies].map((one) => (
        <div
          key={one.id}
          class={`comment ${threads.isNew(one) ? "is-new" : ""}`}
          id={`comment-${one.id}`}
          tabIndex={-1}
        >
          <div class="comment-head">
            <b>{one.removed ? "Removed" : one.name || (one.mine ? "You" : "Somebody")}</b>
            <time class="dim" dateTime={one.created}>
              {when(one.created)}
            </time>
            {one.edited ? <span class="dim">edited</span> : null}
            {threads.isNew(one) ? <span class="pill accent">new</span> : null}
          </div>
          <div class="comment-text">{one.removed ? null : <Markdown text={one.text} />}</div>
          {one.mine && !one.removed && !threads.readOnly ? (
            <div class="comment-acts">
              {link("Edit", () => setWriting(one))}
              {link("Remove", () => threads.remove(one))}
            </div>
          ) : null}
        </div>
      ))}
      {writing === "answer" ? (
        <CommentForm label="Your reply" action="Reply" send={answer} onCancel={cancel} />
      ) : writing ? (
        <CommentForm
          key={writing.id}
          label="Your comment"
          action="Save"
          text={writing.text}
          named={false}
          send={(text) => threads.edit(writing.id, text).then(sent)}
          onCancel={cancel}
        />
      ) : null}
      <div class="comment-acts">
        {threads.readOnly ? (
          <a href={thread.url}>Answer it in the shared scenario</a>
        ) : (
          <>
            {link("Reply", () => setWriting("answer"))}
            {link(thread.resolved ? "Open again" : "Resolve", () => threads.resolve(thread))}
          </>
        )}
      </div>
    </li>
  );
}
