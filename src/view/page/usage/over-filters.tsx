import type { ComponentChildren } from "preact";
import type { Choices } from "../../wire.ts";
import { Select } from "../parts.tsx";
import { shown } from "../shown.ts";
import { RANGES } from "./range.ts";

interface Props {
  readonly params: Readonly<Record<string, string>>;
  readonly choices: Choices;
  readonly hasModel: boolean;
  readonly onChange: (change: Readonly<Record<string, string | undefined>>) => void;
  readonly children?: ComponentChildren;
}

/** What figures are about: the same for usage and tools. */
export function OverFilters({ params, choices, hasModel, onChange, children }: Props) {
  return (
    <search class="filters" aria-label="Filter figures">
      <Select
        name="Time"
        value={RANGES.find(({ value }) => value === params["range"])?.value ?? "30"}
        options={RANGES}
        onChange={(range) => onChange({ range })}
      />
      {children}
      <Select
        name="Agent"
        value={params["agent"] ?? ""}
        options={[
          { value: "", text: "All agents" },
          ...choices.agents.map(({ source, agent }) => ({ value: source, text: shown(agent) })),
        ]}
        onChange={(agent) => onChange({ agent })}
      />
      <Select
        name="Repository"
        value={params["repository"] ?? ""}
        options={[{ value: "", text: "All repositories" }, ...choices.repositories.map(option)]}
        onChange={(repository) => onChange({ repository })}
      />
      {hasModel ? (
        <Select
          name="Model"
          value={params["model"] ?? ""}
          options={[{ value: "", text: "All models" }, ...choices.models.map(option)]}
          onChange={(model) => onChange({ model })}
        />
      ) : null}
    </search>
  );
}

// --- internal ---

const option = (value: string) => ({ value, text: shown(value) });
