import { useEffect, useId, useRef, useState } from "preact/hooks";
import { hrefOf } from "../route.ts";

/** A labelled drop-down list. */
export function Select<T extends string>({
  name,
  value,
  options,
  onChange,
}: {
  name: string;
  value: T;
  options: readonly { readonly value: T; readonly text: string }[];
  onChange: (value: T) => void;
}) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{name}</label>
      <select
        id={id}
        value={value}
        onChange={(event) => {
          const chosen = options[event.currentTarget.selectedIndex];
          if (chosen !== undefined) onChange(chosen.value);
        }}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value} selected={option.value === value}>
            {option.text}
          </option>
        ))}
      </select>
    </div>
  );
}

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
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (isAwaited) field.current?.focus();
    isAwaited = false;
  }, []);
  useEffect(() => setText(value), [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <label class="field search">
      <span>Search</span>
      <input
        ref={field}
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

/** `/`, `?` and Ctrl-K lead from anywhere to the search of the view, or of the sessions if it has none. */
export function useSearchKeys(): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const { key, ctrlKey, metaKey, altKey, target } = event;
      const isTyping = target instanceof Element && target.matches("input, select, textarea");
      const isPlain = (key === "/" || key === "?") && !ctrlKey && !metaKey && !altKey && !isTyping;
      if (event.defaultPrevented || (!isPlain && !(key === "k" && (ctrlKey || metaKey)))) return;
      event.preventDefault();
      const field = document.querySelector<HTMLInputElement>("input[type=search]");
      field?.focus();
      field?.select();
      if (field !== null) return;
      isAwaited = true;
      location.hash = hrefOf("sessions");
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
}

// --- internal ---

/** Whether the next search field gets the focus. */
let isAwaited = false;

const DEBOUNCE_MS = 250;
