/** A labelled checkbox. */
export function Check({
  name,
  title,
  checked,
  onChange,
}: {
  name: string;
  title?: string;
  checked: boolean;
  onChange: (checked: boolean) => void;
}) {
  return (
    <label class="check" title={title}>
      <input type="checkbox" checked={checked} onChange={(event) => onChange(event.currentTarget.checked)} />
      {name}
    </label>
  );
}
