/** One line of Markdown: `code` and **strong**; anything else as it is. */
export const Inline = ({ text }: { text: string }) => (
  <>
    {text.split(/(`[^`]+`|\*\*[^*]+\*\*|\*[^*\s][^*]*\*)/).map((part, place) => {
      if (place % 2 === 0) return part;
      if (part.startsWith("`")) return <code key={place}>{part.slice(1, -1)}</code>;
      return part.startsWith("**") ? (
        <strong key={place}>{part.slice(2, -2)}</strong>
      ) : (
        <em key={place}>{part.slice(1, -1)}</em>
      );
    })}
  </>
);
