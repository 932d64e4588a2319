// A bar of a resource: what is used, and what would come to it, as two backgrounds. Elements that are scaled would be a layer each.

/** Fill a rail: `part` of it is used, `more` would be added; both are shares of 1. */
export function fillRail(rail, part, more = 0) {
  rail.style.setProperty("background-size", `${part * 100}% 100%, ${(part + more) * 100}% 100%`);
}
