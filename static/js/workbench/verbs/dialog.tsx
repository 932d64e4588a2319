// One verb before it happens: what it will do, in a sentence of the server, its value, and the moment.

import type { ComponentChildren } from "preact";
import { Button } from "../../kit/button.tsx";
import { TextField } from "../../kit/field.tsx";
import { signal } from "../../kit/signals.ts";
import { announce, debounce } from "../../lib/dom.ts";
import type { Verb } from "../../lib/protocol.js";
import { plural } from "../../lib/quantity.ts";
import { refusalOf, superseded } from "../../lib/socket.ts";
import type { Edit } from "../edit/edit.ts";
import { Moment, MomentFields, type When } from "../edit/moment.tsx";
import { eventPanel } from "../edit/eventpanel.tsx";
import { capital } from "../playback/terms.ts";
import type { View } from "../view/view.ts";
import { controlled } from "./table.ts";
import type { About } from "../view/about.ts";
import type { VerbWish } from "./whatif.tsx";

const TYPED = 200; // milliseconds after the last key

/** What the server is asked of a verb at a moment. */
export function wishOf(view: View, { verb }: Verb, { targets }: About, when: When, value = ""): VerbWish {
  const { index, step, seconds, during } = when;
  return {
    verb,
    targets: targets.join("\n"),
    value,
    at: seconds ?? String(index ? view.playback.marks.time[index] : 0),
    ...(seconds ? { seconds } : { step }),
    ...(during ? { during } : {}),
  };
}

/** An error as a sentence. */
export const asSentence = (text: string) => `${capital(text)}.`.replace(/\.\.$/, ".");

type Asked = {
  verb: Verb;
  about: About;
  /** Tries it in a branch. */
  tryOut: (wish: VerbWish, words: string) => void;
};

/** Ask about a verb, with what it will do where and when. */
export function askVerb(view: View, edit: Edit, { verb, about, tryOut }: Asked) {
  view.actions.hold();
  const { playback } = view;
  const { mine } = edit.options;
  const moment = new Moment(playback, { timed: verb.timed || controlled(view) });
  const value = signal(verb.value?.default ?? "");
  const missing = () => Boolean(verb.value) && !value.value;
  const sentence = signal<ComponentChildren>(null);
  const wrong = signal({ field: "", text: "" }); // at the value, or of no field
  let turn = 0;

  /** What is wrong stands at its field. */
  const refuse = (field: string | undefined, text: string) => {
    sentence.value = null;
    if (field === "step" || field === "seconds") moment.showError(asSentence(text));
    else wrong.value = { field: field === "value" && verb.value ? field : "", text: asSentence(text) };
  };

  /** Ask what it will do: the wish and the server's words, null where it is none. */
  const preview = async () => {
    const own = ++turn;
    wrong.value = { field: "", text: "" };
    if (missing()) {
      sentence.value = <span class="dim">{`${verb.value?.label}: write what it is to be.`}</span>;
      return null;
    }
    const when = await moment.read();
    if (!when || own !== turn) return null;
    const wish = wishOf(view, verb, about, when, value.value);
    try {
      const asked = { source: playback.source, ...wish, step: String(when.index) };
      const { errors, sentence: words, operations } = await playback.socket.call("verb.preview", asked);
      if (own !== turn) return null;
      const more = operations > 1 ? <span class="dim">{` (${plural(operations, "operation")})`}</span> : null;
      if (errors[0]) refuse(errors[0].field, errors[0].message);
      else sentence.value = [words, more];
      return errors[0] ? null : { wish, words };
    } catch (error) {
      const { body, message } = refusalOf(error);
      if (own === turn && !superseded(error)) refuse(body?.field, message);
      return null;
    }
  };

  const later = debounce(preview, TYPED);
  /** Write it into the draft, or try it in a branch. */
  const finish = async (apply: boolean) => {
    if (box.ariaBusy) return;
    box.ariaBusy = "true";
    later.cancel(); // it would take the place of the one that is asked for here
    try {
      const found = await preview();
      if (!found) {
        if (missing()) wrong.value = { field: "value", text: "This is needed." };
        if (!moment.error.value) box.querySelector<HTMLElement>("[data-field]")?.focus();
      } else if (apply) {
        await edit.operate(found.wish, "bundle.verb");
        edit.added(box, found.words);
      } else {
        box.close();
        tryOut(found.wish, `${verb.title.toLowerCase()} ${about.label}`);
      }
    } catch (error) {
      const { body, message } = refusalOf(error);
      refuse(body?.field, message);
      announce(`Nothing was changed. ${message}`);
    } finally {
      box.ariaBusy = null;
    }
  };

  const Fields = () => {
    const { field, text } = wrong.value;
    return (
      <>
        {verb.value ? (
          <div class="form-grid">
            <TextField
              name="value"
              label={verb.value.label}
              placeholder={verb.value.example}
              value={value.value}
              onInput={(typed) => (value.value = typed)}
              error={field && text}
              wide
            />
          </div>
        ) : null}
        <p class="verb-sentence" role="status">
          {sentence.value}
        </p>
        <p class="stale-text verb-problem" role="alert">
          {field ? "" : text}
        </p>
      </>
    );
  };
  const box = eventPanel(
    `${verb.title}: ${about.label}`,
    () => finish(mine),
    (close) => (
      <>
        <Fields />
        <MomentFields moment={moment} />
        <div class="edit-bar">
          {mine ? (
            <Button type="submit" look="primary" icon="check" data-apply>
              Apply
            </Button>
          ) : null}
          <Button
            type={mine ? "button" : "submit"}
            look={mine ? "" : "primary"}
            icon="fork"
            title="In a branch of this scenario, which is run to the end and compared"
            act={mine ? () => finish(false) : undefined}
          >
            What if…
          </Button>
          <Button look="quiet" act={close}>
            Cancel
          </Button>
          {mine ? <kbd>Ctrl Enter</kbd> : null}
        </div>
      </>
    ),
  );
  box.classList.add("verb-panel");
  box.addEventListener("input", later);
  box.addEventListener("close", () => {
    turn += 1;
    later.cancel();
  });
  box.querySelector<HTMLElement>("[data-field], [type=submit]")?.focus();
  void preview();
}
