/** An icon of the sprite in templates/icons.html. */
export const Icon = ({ name }: { name: string }) => (
  <svg class="icon" aria-hidden="true">
    <use href={`#i-${name}`} />
  </svg>
);
