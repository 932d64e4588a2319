type SegmentedProps = {
  label: string;
  options: [value: string, text: string][];
  value: string;
  onChange: (value: string) => void;
  class?: string;
};

/** A choice of one of a few, all of which are in sight. */
export const Segmented = ({ label, options, value, onChange, class: more = "" }: SegmentedProps) => (
  <span class={`seg ${more}`.trim()} role="group" aria-label={label}>
    {options.map(([key, text]) => (
      <button key={key} type="button" data-value={key} aria-pressed={key === value} onClick={() => onChange(key)}>
        {text}
      </button>
    ))}
  </span>
);
