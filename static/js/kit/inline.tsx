import type { ComponentChildren, HTMLAttributes } from "preact";

type InlineProps = { act: (event: Event) => void; children?: ComponentChildren } & HTMLAttributes<HTMLSpanElement>;

/**
 * A link in running text. A span, not a button: a button is one box and cannot break over lines as its sentence does.
 * Enter and Space act as a click does.
 */
export const Inline = ({ act, children, ...more }: InlineProps) => (
  <span
    role="button"
    tabIndex={0}
    class="link"
    {...more}
    onClick={act}
    onKeyDown={(event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      event.stopPropagation();
      act(event);
    }}
  >
    {children}
  </span>
);
