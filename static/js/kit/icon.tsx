/** An icon of the sprite in templates/icons.html. */
export const Icon = ({ name, class: more = "" }: { name: string; class?: string }) => (
  <svg class={`icon ${more}`.trim()} aria-hidden="true">
    <use href={`#i-${name}`} />
  </svg>
);
