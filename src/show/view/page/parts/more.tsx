/** A button for more rows, and how many there are. */
export const More = ({ text, onMore }: { text: string; onMore: () => void }) => (
  <p class="more">
    <button type="button" onClick={onMore}>
      Show more
    </button>
    <span class="muted">{text}</span>
  </p>
);
