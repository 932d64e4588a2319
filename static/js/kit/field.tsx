import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { classes } from "../lib/dom.ts";

type Attributes = { id: string; "aria-describedby": string; "aria-invalid": boolean };

export type FieldProps = {
  label: string;
  /** What its value is counted in. */
  unit?: string | undefined;
  hint?: string | undefined;
  /** What is wrong with its value, in place of the hint. */
  error?: string | undefined;
  /** What is doubtful about its value, which is allowed; in place of the hint as well. */
  doubt?: string | undefined;
  /** It takes two columns of a form. */
  wide?: boolean;
  /** A check box, which stands before its label. */
  flag?: boolean;
  /** Of its control; made where none is given. */
  id?: string | undefined;
};

let made = 0;

/** A field of a form; `control` draws what is filled in, with the attributes that bind it to its label and its note. */
export function Field({ control, ...props }: FieldProps & { control: (its: Attributes) => ComponentChildren }) {
  const [id] = useState(() => props.id ?? `control-${(made += 1)}`);
  const { label, unit, hint, error, doubt, wide, flag } = props;
  const described = `${unit ? `${id}-unit ` : ""}${id}-note`;
  const drawn = control({ id, "aria-describedby": described, "aria-invalid": Boolean(error) });
  return (
    <div class={classes("form-field", { wide, flag })}>
      {flag ? null : <label for={id}>{label}</label>}
      {unit ? (
        <div class="field-unit">
          {drawn}
          <span class="dim" id={`${id}-unit`}>
            {unit}
          </span>
        </div>
      ) : (
        drawn
      )}
      {flag ? <label for={id}>{label}</label> : null}
      <small class={classes("field-note", { "stale-text": error, "fail-text": !error && doubt })} id={`${id}-note`}>
        {error || doubt || hint}
      </small>
    </div>
  );
}

type TextFieldProps = FieldProps & {
  name: string;
  value: string;
  onInput: (value: string) => void;
  placeholder?: string;
  /** What is suggested for it. */
  known?: readonly string[];
  inputMode?: "numeric" | undefined;
  disabled?: boolean | undefined;
};

const SUGGESTED = 60;

/** A field for a line of text. */
export const TextField = ({ name, value, onInput, known = [], ...more }: TextFieldProps) => (
  <Field
    {...more}
    control={(its) => (
      <>
        <input
          {...its}
          class="field mono"
          data-field={name}
          autocomplete="off"
          spellcheck={false}
          autocapitalize="off"
          placeholder={more.placeholder}
          inputMode={more.inputMode}
          disabled={more.disabled}
          list={known.length ? `${its.id}-known` : undefined}
          value={value}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
        {known.length ? (
          <datalist id={`${its.id}-known`}>
            {known.slice(0, SUGGESTED).map((text) => (
              <option key={text} value={text} />
            ))}
          </datalist>
        ) : null}
      </>
    )}
  />
);
