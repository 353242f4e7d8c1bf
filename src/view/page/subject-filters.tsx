import type { Choices } from "../wire.ts";
import { safeText } from "./safe-text.ts";
import { Select } from "./select.tsx";

interface Props {
  readonly params: Readonly<Record<string, string>>;
  readonly choices: Choices;
  /** Tools have no model. @default true */
  readonly hasModel?: boolean;
  readonly onChange: (change: Readonly<Record<string, string | undefined>>) => void;
}

/** Filters by agent, repository and model, shared by all views. */
export function SubjectFilters({ params, choices, hasModel = true, onChange }: Props) {
  return (
    <>
      <Select
        name="Agent"
        value={params["agent"] ?? ""}
        options={[
          { value: "", text: "All agents" },
          ...choices.agents.map(({ source, agent }) => ({ value: source, text: safeText(agent) })),
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
    </>
  );
}

// --- internal ---

const option = (value: string) => ({ value, text: safeText(value) });
