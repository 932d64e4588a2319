// Which profile the controls are about: chosen, renamed, added and removed.

import { h, icon } from "../../lib/dom.js";
import { segmented } from "../../kit/segmented.tsx";

/**
 * `select(at)` shows another profile; one that is added is shown at once.
 *
 * @param {{
 *   profiles: { name: string }[],
 *   at: number,
 *   editable: boolean,
 *   change: (what: string, key: string, value: string, words: string) => Promise<void>,
 *   select: (at: number) => void,
 * }} options
 */
export function profileBar({ profiles, at, editable, change, select }) {
  const profile = profiles[at];
  const name = h("input", {
    class: "field mono",
    value: profile.name,
    "aria-label": "schedulerName of this profile",
    "data-control": "profile-name",
    maxlength: 63,
    spellcheck: "false",
    disabled: !editable || undefined,
    onchange: (event) => {
      const to = event.target.value.trim();
      if (to && to !== profile.name) change("profile", String(at), to, `profile ${to}`);
      else event.target.value = profile.name;
    },
  });
  const free = () => {
    for (let n = profiles.length + 1; ; n += 1)
      if (!profiles.some((one) => one.name === `scheduler-${n}`)) return `scheduler-${n}`;
  };
  return h(
    "div",
    { class: "profile-bar" },
    profiles.length > 1
      ? segmented(
          "Profile",
          profiles.map((one, i) => [String(i), one.name]),
          String(at),
          (to) => select(Number(to)),
        )
      : null,
    h("label", { class: "profile-name" }, h("span", { class: "dim", text: "schedulerName" }), name),
    editable
      ? h(
          "button",
          {
            type: "button",
            class: "btn small",
            "data-control": "profile-add",
            onclick: async () => {
              await change("profile", "+", free(), "one more profile");
              select(profiles.length);
            },
          },
          icon("plus"),
          "Profile",
        )
      : null,
    editable && profiles.length > 1
      ? h("button", {
          type: "button",
          class: "btn quiet small",
          "data-control": "profile-drop",
          onclick: () => change("profile", String(at), "", `without profile ${profile.name}`),
          text: "Remove",
        })
      : null,
  );
}
