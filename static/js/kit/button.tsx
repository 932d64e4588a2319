import type { ButtonHTMLAttributes, ComponentChildren } from "preact";
import { toast } from "../lib/dom.ts";
import { refusalOf } from "../lib/socket.ts";
import { Icon } from "./icon.tsx";

type ButtonProps = {
  /** What a press does. Where that is refused, a toast says why. */
  act?: () => unknown;
  /** Further classes; "link" for what looks like one. */
  look?: string;
  icon?: string;
  /** Its name, where no text in it is one; a hint as well. */
  label?: string;
  children?: ComponentChildren;
} & Omit<ButtonHTMLAttributes<HTMLButtonElement>, "icon">;

export const Button = ({ act, look = "", icon, label, children, ...more }: ButtonProps) => (
  <button
    type="button"
    class={look === "link" ? look : `btn ${look}`.trim()}
    aria-label={label}
    title={label}
    onClick={act && (() => void attempt(act))}
    {...more}
  >
    {icon ? <Icon name={icon} /> : null}
    {children}
  </button>
);

/** Do what may be refused; a toast says why it was. */
export async function attempt(act: () => unknown) {
  try {
    await act();
  } catch (error) {
    toast(refusalOf(error).message, { name: "warn", ms: 6000 });
  }
}
