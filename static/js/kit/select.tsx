type SelectProps = {
  options: readonly (readonly [value: string, text: string, ...unknown[]])[];
  value: string;
  onChange: (value: string) => void;
  class?: string;
  disabled?: boolean;
  hidden?: boolean;
  title?: string;
  name?: string;
  id?: string;
  "data-field"?: string;
  "aria-label"?: string;
  "aria-describedby"?: string;
  "aria-invalid"?: boolean;
};

/** A choice of one of several, in a list that opens. */
export const Select = ({ options, value, onChange, class: more = "", ...attributes }: SelectProps) => (
  <select
    class={`field ${more}`.trim()}
    {...attributes}
    value={value}
    onChange={(event) => onChange(event.currentTarget.value)}
  >
    {options.map(([key, text]) => (
      <option key={key} value={key} selected={key === value}>
        {text}
      </option>
    ))}
  </select>
);
