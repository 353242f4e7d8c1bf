/** A labelled day, `2026-11-21`. */
export function Day({ name, value, onChange }: { name: string; value: string; onChange: (day: string) => void }) {
  return (
    <label class="field">
      <span>{name}</span>
      <input type="date" value={value} onChange={(event) => onChange(event.currentTarget.value)} />
    </label>
  );
}
