// The form that chooses both sides: what was chosen last counts, from the list or as an address.

import { $, $$ } from "../lib/dom.ts";

const SIDES = ["left", "right"] as const;

export function choosing(form: HTMLFormElement) {
  for (const fieldset of $$("fieldset", form)) {
    const list = $("select", fieldset);
    const field = $("input", fieldset);
    list.addEventListener("change", () => {
      if (list.value) field.value = "";
    });
    field.addEventListener("input", () => {
      if (field.value) list.value = "";
    });
  }
  const swap = $("[data-swap]", form);
  swap.hidden = false;
  swap.addEventListener("click", () => {
    const fields = (side: string) =>
      [...form.elements].filter((one) => one instanceof HTMLElement && one.getAttribute("name")?.startsWith(side)) as (
        HTMLInputElement | HTMLSelectElement
      )[];
    const [left, right] = SIDES.map(fields);
    const kept = left.map(({ value }) => value);
    left.forEach((one, at) => {
      one.value = right[at].value;
      right[at].value = kept[at];
    });
  });
}
