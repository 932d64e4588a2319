import { useSignal } from "@preact/signals";
import { announce, toast } from "../lib/dom.ts";
import { hint } from "./api.ts";
import { passed, player } from "./asked.ts";
import { Inline } from "../kit/prose.tsx";
import { gettext } from "./words.ts";

const LABELS = [gettext("Hint: where to look"), gettext("Another hint: the rule"), gettext("Last hint: the fact")];

/** The hints one by one, each only when it is asked for. The button stays where it is, so it keeps the focus. */
export const Hints = ({ number }: { number: number }) => {
  const shown = useSignal<string[]>([]);
  const asking = useSignal(false);
  if (!number) return null;
  const next = async () => {
    if (asking.value) return;
    asking.value = true;
    try {
      const { text } = await hint(player.lesson, player.stop, shown.value.length + 1, player.seed);
      shown.value = [...shown.value, text];
      announce(text);
    } catch (error) {
      toast((error as Error).message, { name: "warn", ms: 6000 });
    } finally {
      asking.value = false;
    }
  };
  return (
    <div class="hints">
      {shown.value.length > 0 && (
        <ol>
          {shown.value.map((text) => (
            <li key={text}>
              <Inline text={text} />
            </li>
          ))}
        </ol>
      )}
      {shown.value.length < number && !passed.value && (
        <button type="button" class="btn quiet" aria-disabled={asking.value} onClick={next}>
          {LABELS[shown.value.length]}
        </button>
      )}
    </div>
  );
};
