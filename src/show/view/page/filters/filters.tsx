import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Choices } from "../../wire/documents.ts";
import { Select } from "../parts/fields.tsx";
import { changeParams, type ViewParams } from "../route.ts";
import { safeText } from "../text/safe-text.ts";
import { RANGES, type Range, rangeNamed } from "./range.ts";

interface Props {
  readonly params: ViewParams;
  readonly choices: Choices;
  /** Tools have no model. @default true */
  readonly hasModel?: boolean;
}

/** Filters of the views with figures. @param children filters that only one view has @param search its search, if it has one @param end what follows them */
export function FigureFilters({
  children,
  search,
  end,
  ...subject
}: Props & { readonly [Part in "children" | "search" | "end"]?: ComponentChildren }) {
  return (
    <Filters label="Filter figures" search={search}>
      <PeriodFilter params={subject.params} fallback="30" />
      {children}
      <SubjectFilters {...subject} />
      {end}
    </Filters>
  );
}

/** Fields that choose what a view shows. A phone has no room for them: there a button shows all but the search. */
export function Filters({
  label,
  search,
  children,
}: {
  label: string;
  search?: ComponentChildren;
  children: ComponentChildren;
}) {
  const [isOpen, setOpen] = useState(false);
  return (
    <search class="filters" aria-label={label}>
      {search}
      <button type="button" class="quiet fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        Filters <span aria-hidden="true">{isOpen ? "▾" : "▸"}</span>
      </button>
      <div class={isOpen ? "folded open" : "folded"}>{children}</div>
    </search>
  );
}

/** The period of the figures, also between two days. */
export function PeriodFilter({ params, fallback }: { params: ViewParams; fallback: Range }) {
  const range = rangeNamed(params["range"], fallback);
  return (
    <>
      <Select name="Time" value={range} options={RANGES} onChange={(value) => changeParams({ range: value })} />
      {range === "between" ? <DaysBetween params={params} /> : null}
    </>
  );
}

/** The first and the last day of a period. */
const DaysBetween = ({ params }: { params: ViewParams }) => (
  <>
    <Day name="From" value={params["from"]} onChange={(from) => changeParams({ from })} />
    <Day name="To" value={params["to"]} onChange={(to) => changeParams({ to })} />
  </>
);

/** Filters by agent, repository and model, shared by all views. */
export function SubjectFilters({ params, choices, hasModel = true }: Props) {
  return (
    <>
      <Select
        name="Agent"
        value={params["agent"] ?? ""}
        options={[
          { value: "", text: "All agents" },
          ...choices.agents.map(({ source, agent }) => ({ value: source, text: safeText(agent) })),
        ]}
        onChange={(agent) => changeParams({ agent })}
      />
      <Select
        name="Repository"
        value={params["repository"] ?? ""}
        options={[{ value: "", text: "All repositories" }, ...choices.repositories.map(option)]}
        onChange={(repository) => changeParams({ repository })}
      />
      {hasModel ? (
        <Select
          name="Model"
          value={params["model"] ?? ""}
          options={[{ value: "", text: "All models" }, ...choices.models.map(option)]}
          onChange={(model) => changeParams({ model })}
        />
      ) : null}
    </>
  );
}

// --- internal ---

/** A labelled day, `2026-11-21`. */
function Day({
  name,
  value = "",
  onChange,
}: {
  name: string;
  value?: string | undefined;
  onChange: (day: string) => void;
}) {
  return (
    <label class="field">
      <span>{name}</span>
      <input type="date" value={value} onChange={(event) => onChange(event.currentTarget.value)} />
    </label>
  );
}

const option = (value: string) => ({ value, text: safeText(value) });
