// A link in running text. A span, not a button: a button is one box and cannot break over lines as its sentence does.

import { h } from "./dom.js";
/** @import { Child, Props } from "./dom.js" */

/**
 * Make it; `children` are its texts and icons. Enter and Space act as a click does.
 *
 * @param {(event: Event) => void} act
 * @param {Props<HTMLSpanElement> | null} props
 * @param {...Child} children
 */
export function inline(act, props, ...children) {
  return h(
    "span",
    {
      role: "button",
      tabindex: "0",
      class: "link",
      ...props,
      onclick: act,
      onkeydown: (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        event.stopPropagation();
        act(event);
      },
    },
    ...children,
  );
}
