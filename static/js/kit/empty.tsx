import type { ComponentChildren } from "preact";

type EmptyProps = { title: ComponentChildren; class?: string; children?: ComponentChildren };

/** What an area shows that has nothing to show: why, and what to do next. Texts are paragraphs of their own. */
export const Empty = ({ title, class: more = "", children }: EmptyProps) => (
  <div class={`empty ${more}`.trim()}>
    <b>{title}</b>
    {typeof children === "string" ? <span>{children}</span> : children}
  </div>
);
