// Where a comment is written: a text, the writer's name, and of a thread what it is about.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button } from "../../kit/button.tsx";
import { focused } from "../../kit/focus.ts";
import { refusalOf } from "../../lib/socket.ts";
import { nameKept } from "../rooms/kept.ts";

const CHARACTERS = 4000;

type FormProps = {
  label: string;
  action: string;
  text?: string;
  /** Whether it asks for the writer's name. */
  named?: boolean;
  hidden?: boolean;
  /** Rejects with what is wrong; the form is emptied once it is done. */
  send: (text: string, name: string) => Promise<unknown>;
  /** It can be left, and takes the focus when it appears. */
  onCancel?: () => void;
  /** What stands above the text. */
  children?: ComponentChildren;
};

export function CommentForm({ label, action, text, named = true, hidden, send, onCancel, children }: FormProps) {
  const [error, setError] = useState("");
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const written = new FormData(form);
    try {
      await send(String(written.get("text")), String(written.get("name") ?? "").trim());
      form.querySelector("textarea")!.value = "";
      setError("");
    } catch (refused) {
      setError(refusalOf(refused).message);
    }
  };
  return (
    <form class="comment-form" hidden={hidden} onSubmit={submit}>
      {children}
      <textarea
        ref={onCancel && focused}
        class="field"
        name="text"
        rows={3}
        required
        maxlength={CHARACTERS}
        aria-label={label}
        placeholder={label}
        defaultValue={text}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit();
        }}
      />
      <div role="alert">{error ? <p class="note error">{error}</p> : null}</div>
      <div class="comment-acts">
        {named ? (
          <input
            class="field"
            name="name"
            maxlength={40}
            autocomplete="nickname"
            aria-label="Your name"
            placeholder="Your name (optional)"
            defaultValue={nameKept()}
          />
        ) : null}
        {onCancel ? (
          <Button look="quiet" act={onCancel}>
            Cancel
          </Button>
        ) : null}
        <button class="btn primary">{action}</button>
      </div>
    </form>
  );
}
