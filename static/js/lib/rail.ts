// A bar of a resource: what is used, and what would be added, as two backgrounds. Scaled elements would each be a layer
// of their own.

/** Fill a rail: `part` of it is used, `more` would be added; both are shares of 1. */
export function fillRail(rail: HTMLElement, part: number, more = 0) {
  rail.style.setProperty("background-size", `${part * 100}% 100%, ${(part + more) * 100}% 100%`);
}
