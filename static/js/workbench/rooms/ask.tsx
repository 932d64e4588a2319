// Asking a room to predict what happens: the dialog of who leads.

import type { ComponentChild } from "preact";
import { useState } from "preact/hooks";
import { openDialog } from "../../kit/dialog.tsx";
import { focused } from "../../kit/focus.ts";
import { Icon } from "../../kit/icon.tsx";
import type { QuestionKind } from "../../lib/protocol.js";
import { refusalOf } from "../../lib/socket.ts";
import type { Room } from "./room.ts";

type Kind = Exclude<QuestionKind, "lesson">;

export const KINDS: Record<Kind, [title: string, about: string]> = {
  node: ["Which node wins?", "Viewers pick a node, or none."],
  fits: ["Does it fit?", "Viewers say yes or no."],
  victims: ["Who is evicted?", "Viewers pick pods of lower priority, or none."],
  choice: ["A question of your own", "Viewers pick one of your answers; you may mark the correct one."],
};
const MOST = 12; // choices
const MARK = /^\*\s*/; // before the answer that is correct

export const ask = (room: Room) =>
  openDialog("Ask everybody", (close) => <Ask room={room} close={close} />).classList.add("room-dialog");

function Ask({ room, close }: { room: Room; close: () => void }) {
  const [own, setOwn] = useState(false);
  const [state, setState] = useState<ComponentChild>(null);
  const send = async (question: Parameters<Room["ask"]>[0]) => {
    setState(<p class="dim">Computing the answer…</p>);
    try {
      await room.ask(question);
      close();
    } catch (error) {
      setState(<p class="note error">{refusalOf(error).message}</p>);
    }
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const asked = new FormData(event.currentTarget as HTMLFormElement);
    const lines = String(asked.get("choices")).split("\n");
    const answers = lines.flatMap((line) => line.trim() || []).slice(0, MOST);
    const right = answers.findIndex((line) => MARK.test(line));
    const choices = answers.map((line) => line.replace(MARK, ""));
    const text = String(asked.get("text")).trim();
    void send({ kind: "choice", text, choices, ...(right >= 0 ? { right } : {}) });
  };
  return (
    <>
      <p class="dim">
        The question is about the next cycle or, while a phase is shown, about the current one. The scheduler's answer
        stays on the server until you reveal it.
      </p>
      <div class="room-kinds">
        {(Object.entries(KINDS) as [Kind, [string, string]][]).map(([kind, [title, about]]) => (
          <button
            type="button"
            class="room-kind"
            onClick={() => (kind === "choice" ? setOwn(true) : void send({ kind }))}
          >
            <Icon name="help" />
            <b>{title}</b>
            <span class="dim">{about}</span>
          </button>
        ))}
      </div>
      {own ? (
        <form class="room-form" onSubmit={submit}>
          <label for="ask-text">Question</label>
          <input ref={focused} class="field" id="ask-text" name="text" maxlength={200} autocomplete="off" required />
          <label for="ask-choices">Answers, one per line</label>
          <textarea class="field" id="ask-choices" name="choices" rows={4} required />
          <p class="dim">A line that begins with * is the correct answer; it is revealed with the result.</p>
          <div class="room-form-end">
            <button class="btn primary">Ask</button>
          </div>
        </form>
      ) : null}
      <div role="alert">{state}</div>
    </>
  );
}
