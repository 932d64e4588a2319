// How far a longer task is: a bar, a description, and a button that cancels it. A screen reader reads the bar when it
// is visited, not at every step; whoever shows one announces it.

import { render } from "preact";
import { Icon } from "./icon.tsx";

/** A share from 0 to 1, null where nobody knows how much there is, and the words for it. */
export type Far = [share: number | null, words: string];

type BarProps = {
  /** Names the bar. */
  label: string;
  far?: Far;
  /** Where it can be given up, and what the button is called. */
  onCancel?: () => void;
  cancel?: string;
};

export function ProgressBar({ label, far: [share, words] = [null, label], onCancel, cancel = "Cancel" }: BarProps) {
  const percent = share === null ? undefined : Math.max(0, Math.min(100, Math.round(share * 100)));
  return (
    <div class={share === null ? "progress unknown" : "progress"}>
      <span class="progress-words num">{words}</span>
      <div
        class="progress-bar"
        role="progressbar"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={percent}
        aria-valuetext={words}
      >
        <i style={{ transform: `scaleX(${(percent ?? 100) / 100})` }} />
      </div>
      {onCancel ? (
        <button type="button" class="btn progress-cancel" onClick={onCancel}>
          <Icon name="close" />
          {cancel}
        </button>
      ) : null}
    </div>
  );
}

/** The same for a module that builds its DOM by hand. */
export class Progress {
  #host = document.createElement("div");
  readonly element: HTMLElement;
  readonly button: HTMLButtonElement | null;

  constructor(
    private readonly label: string,
    private readonly options: { onCancel?: () => void; cancel?: string } = {},
  ) {
    this.set(null, label);
    this.element = this.#host.firstElementChild as HTMLElement;
    this.button = this.element.querySelector("button");
  }

  set(...far: Far) {
    render(<ProgressBar label={this.label} far={far} {...this.options} />, this.#host);
  }
}
