// A weight: a slider for what is usual, a field for every number.

import { debounce, h } from "../../lib/dom.js";

export const MOST_WEIGHT = 2_147_483_647;
const AT_LEAST = 10; // the slider's end
const SETTLED = 350; // ms: the keyboard moves a slider one by one

/**
 * `act(text)` is called with the number once it is let go of; `wrong(text)` with what is not one.
 *
 * @param {{
 *   control: string,
 *   name: string,
 *   weight: number,
 *   editable: boolean,
 *   label?: string,
 *   wrong?: (text: string) => void,
 *   act: (value: string) => void,
 * }} options
 */
export function weightControl({
  control,
  name,
  weight,
  editable,
  label = `Weight of ${name}; 0 takes it out`,
  act,
  wrong = () => {},
}) {
  const off = !editable || undefined;
  const settle = debounce((value) => act(value), SETTLED);
  const field = h("input", {
    type: "number",
    class: "field weight num",
    inputmode: "numeric",
    min: 0,
    max: MOST_WEIGHT,
    step: 1,
    value: weight,
    "data-control": control,
    "aria-label": label,
    disabled: off,
    oninput: () => {
      if (field.checkValidity() && field.value !== "") slider.value = field.value;
    },
    onchange: () => {
      if (field.checkValidity() && field.value !== "") {
        act(String(Number(field.value)));
        return;
      }
      wrong(`${label}: a whole number from 0 to ${MOST_WEIGHT}.`);
      field.value = String(weight);
    },
  });
  const slider = h("input", {
    type: "range",
    class: "weigh-slider",
    min: 0,
    max: Math.min(MOST_WEIGHT, Math.max(AT_LEAST, 2 * weight)),
    step: 1,
    value: weight,
    "data-control": `${control}:slider`,
    "aria-label": `${name}, weight`,
    disabled: off,
    oninput: () => {
      field.value = slider.value;
    },
    onchange: () => settle(slider.value),
  });
  return h("span", { class: "weight-control" }, slider, field);
}
