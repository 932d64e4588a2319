// The dialog that asks for a step.

import { useState } from "preact/hooks";
import { openDialog } from "../../kit/dialog.tsx";
import { refusalOf } from "../../lib/socket.ts";
import type { Playback } from "../playback/playback.ts";

/** The index of a step as it is written, NaN for what is none, null for one that is not computed yet. */
export async function indexOf(playback: Playback, text: string): Promise<number | null> {
  if (/^\d+$/.test(text)) return Number(text) > playback.last && playback.complete === false ? null : Number(text);
  if (text.toLowerCase() === "end") return playback.last;
  if (/^\d+\.\d+$/.test(text))
    return (await playback.ask("scenario.open", { source: playback.source, step: text })).index;
  return NaN;
}

function selected(field: HTMLInputElement | null) {
  field?.focus();
  field?.select();
}

export const askStep = (playback: Playback) =>
  openDialog("Go to step", (close) => <StepForm playback={playback} close={close} />);

function StepForm({ playback, close }: { playback: Playback; close: () => void }) {
  const { cycles, last, wanted } = playback;
  const [wrong, setWrong] = useState("");
  const go = async (event: SubmitEvent) => {
    event.preventDefault();
    const text = String(new FormData(event.currentTarget as HTMLFormElement).get("step")).trim();
    try {
      const index = await indexOf(playback, text);
      if (index !== null && !(index >= 0 && index <= last))
        return setWrong(`There is no step ${text}: this timeline has cycles 1 to ${cycles}.`);
      close();
      if (index === null) playback.later({ step: text, place: undefined });
      else playback.goto(index);
    } catch (error) {
      setWrong(refusalOf(error).message);
    }
  };
  return (
    <form method="dialog" onSubmit={go}>
      <div class="copy-row">
        <input
          ref={selected}
          class="field"
          name="step"
          inputMode="decimal"
          autocomplete="off"
          aria-label="Step"
          placeholder={`1 to ${cycles}, ${playback.end ? "end, " : ""}or major.minor as 1.17`}
          defaultValue={wanted ? String(wanted > cycles ? "end" : wanted) : ""}
        />
        <button class="btn primary">Go</button>
      </div>
      <p class="stale-text" role="alert">
        {wrong}
      </p>
    </form>
  );
}
