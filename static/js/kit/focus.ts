/** A `ref` of what takes the focus when it appears. */
export const focused = (element: HTMLElement | null) => element?.focus();
