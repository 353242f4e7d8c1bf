import type { Choices } from "../../wire/documents.ts";
import { Select } from "../parts/fields.tsx";
import { changeParams, type ViewParams } from "../route.ts";
import { safeText } from "../text/safe-text.ts";

interface Props {
  readonly params: ViewParams;
  readonly choices: Choices;
  /** Tools have no model. @default true */
  readonly hasModel?: boolean;
}

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

const option = (value: string) => ({ value, text: safeText(value) });
