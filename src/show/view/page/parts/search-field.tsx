import { useEffect, useRef, useState } from "preact/hooks";

interface Props {
  readonly value: string;
  /** What is searched. */
  readonly placeholder: string;
  readonly onChange: (text: string) => void;
}

/** Searches when the user pauses typing. */
export function SearchField({ value, placeholder, onChange }: Props) {
  const [text, setText] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => setText(value), [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <label class="field search">
      <span>Search</span>
      <input
        type="search"
        placeholder={placeholder}
        value={text}
        onInput={(event) => {
          const next = event.currentTarget.value;
          setText(next);
          clearTimeout(timer.current);
          timer.current = setTimeout(() => onChange(next), DEBOUNCE_MS);
        }}
      />
    </label>
  );
}

// --- internal ---

const DEBOUNCE_MS = 250;
