import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import type { Answer, NothingYet, Sums, Trouble } from "../wire.ts";
import type { Asked } from "./ask.ts";
import { command } from "./command.ts";
import { count, dollars, exact } from "./format.ts";

/** A number of tokens: “unknown”, or with a sign for a lower bound. */
export function Tokens({ n, least = false }: { n: number | null; least?: boolean }) {
  if (n === null) return <Unknown />;
  return (
    <span title={`${least ? "at least " : ""}${exact(n)}`}>
      {least ? "≥ " : ""}
      {count(n)}
    </span>
  );
}

/** Cost at list price. */
export function Cost({ nano, least = false }: { nano: number | null; least?: boolean }) {
  if (nano === null) return <Unknown />;
  return (
    <span>
      {least ? "≥ " : ""}
      {dollars(nano)}
    </span>
  );
}

/** Tokens in and out, as one figure. */
export function InOut({ sums }: { sums: Sums }) {
  if (sums.input === null && sums.output === null) return <Unknown />;
  return (
    <span class="inout">
      <Tokens n={sums.input} least={sums.leastInput} />
      <span class="arrow" aria-hidden="true">
        →
      </span>
      <span class="sr"> in, </span>
      <Tokens n={sums.output} least={sums.leastOutput} />
      <span class="sr"> out</span>
    </span>
  );
}

export const Unknown = () => <span class="unknown">unknown</span>;

/** Shown when there is no data. */
export function Instead({ answer, again }: { answer: NothingYet | Trouble | undefined; again?: string }) {
  if (answer === undefined) {
    return (
      <p class="instead" role="status">
        Reading the store …
      </p>
    );
  }
  if (answer.kind === "nothing") {
    return (
      <section class="instead" aria-labelledby="nothing">
        <h2 id="nothing">Nothing to show yet</h2>
        <p>{sentence(answer.advice)}</p>
        <p class="muted">
          This page waits. As soon as an agent has worked and a drain has run, it shows here by itself.
        </p>
      </section>
    );
  }
  return (
    <section class="instead trouble" role="alert" aria-labelledby="trouble">
      <h2 id="trouble">{TITLES[answer.code] ?? "This cannot be shown"}</h2>
      <p>{sentence(answer.message)}</p>
      {again === undefined ? null : (
        <p>
          <a href={again}>Back to all sessions</a>
        </p>
      )}
    </section>
  );
}

/** The data, or `undefined`. */
export const given = <T extends { readonly kind: string }>(asked: Asked<T>, kind: T["kind"]): T | undefined =>
  isGiven(asked.answer, kind) ? asked.answer : undefined;

/** The reason why there is no data, or `undefined`. */
export const missing = <T extends { readonly kind: string }>(asked: Asked<T>): NothingYet | Trouble | undefined => {
  const { answer } = asked;
  return answer?.kind === "nothing" || answer?.kind === "trouble" ? (answer as NothingYet | Trouble) : undefined;
};

export function Tile({
  name,
  children,
  note,
}: {
  name: string;
  children: ComponentChildren;
  note?: ComponentChildren;
}) {
  return (
    <div class="tile">
      <dt>{name}</dt>
      <dd>
        <span class="figure">{children}</span>
        {note === undefined || note === null ? null : <span class="note">{note}</span>}
      </dd>
    </div>
  );
}

/** Shown instead of figures while there are no sessions. */
export const NoSessionYet = () => (
  <section class="instead">
    <h2>No session yet</h2>
    <p>
      Run <code>{command("enable")}</code> and work with an agent, or import past sessions with{" "}
      <code>{command("import")}</code>.
    </p>
  </section>
);

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

// --- internal ---

const TITLES: Readonly<Record<string, string>> = {
  E_ENDED: "The program has ended",
  E_SESSION: "No such session",
  E_STORE_DAMAGED: "The store is damaged",
  E_STORE_NEWER: "The store is of a newer version",
  E_STORE: "The store cannot be read",
  E_INTERNAL: "Something went wrong",
};

const isGiven = <T extends { readonly kind: string }>(answer: Answer<T> | undefined, kind: T["kind"]): answer is T =>
  answer?.kind === kind;

const sentence = (text: string): string => {
  const first = `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
  return /[.!?…]$/.test(first) ? first : `${first}.`;
};
