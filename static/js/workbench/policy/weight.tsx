// A weight: a slider for what is usual, a field for every number.

import { useMemo, useRef } from "preact/hooks";
import { debounce } from "../../lib/dom.ts";

const MOST_WEIGHT = 2_147_483_647;
const AT_LEAST = 10; // the slider's end
const SETTLED = 350; // ms: the keyboard moves a slider one by one

type WeightProps = {
  control: string;
  name: string;
  weight: number;
  editable: boolean;
  /** Called with what is no weight. */
  wrong?: (text: string) => void;
  /** Gets the number once it is let go of. */
  act: (value: string) => void;
};

export function Weight({ control, name, weight, editable, wrong, act }: WeightProps) {
  const field = useRef<HTMLInputElement>(null);
  const slider = useRef<HTMLInputElement>(null);
  const latest = useRef(act);
  latest.current = act;
  const settle = useMemo(() => debounce((value: string) => latest.current(value), SETTLED), []);
  const label = `Weight of ${name}; 0 disables it`;
  const valid = (input: HTMLInputElement) => input.checkValidity() && input.value !== "";
  return (
    <span class="weight-control">
      <input
        ref={slider}
        type="range"
        class="weigh-slider"
        min={0}
        max={Math.min(MOST_WEIGHT, Math.max(AT_LEAST, 2 * weight))}
        step={1}
        value={weight}
        data-control={`${control}:slider`}
        aria-label={`${name}, weight`}
        disabled={!editable}
        onInput={({ currentTarget }) => {
          if (field.current) field.current.value = currentTarget.value;
        }}
        onChange={({ currentTarget }) => settle(currentTarget.value)}
      />
      <input
        ref={field}
        type="number"
        class="field weight num"
        inputMode="numeric"
        min={0}
        max={MOST_WEIGHT}
        step={1}
        value={weight}
        data-control={control}
        aria-label={label}
        disabled={!editable}
        onInput={({ currentTarget }) => {
          if (slider.current && valid(currentTarget)) slider.current.value = currentTarget.value;
        }}
        onChange={({ currentTarget }) => {
          if (valid(currentTarget)) {
            act(String(Number(currentTarget.value)));
            return;
          }
          wrong?.(`${label}: a whole number from 0 to ${MOST_WEIGHT}.`);
          currentTarget.value = String(weight);
        }}
      />
    </span>
  );
}
