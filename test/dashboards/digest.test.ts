import { expect, test } from "vitest";
import { digestQueries, LABELS } from "#check/team-digest.ts";
import { LABEL } from "../../dashboards/src/promql.ts";
import { parsed } from "./promql.ts";
import { allQueries, interpolated } from "./queries.ts";

/** The panel whose expression, or a part of it, each query is. */
const PANELS: Readonly<Record<keyof ReturnType<typeof digestQueries>, string>> = {
  cost: "Cost",
  unpriced: "Calls without a price",
  sessions: "Sessions",
  turns: "Turn outcomes",
  tools: "Tool calls by outcome",
  merged: "Cost per merged change",
  repositories: "Cost by repository",
  models: "Models",
};

/** The expressions of a panel for everything, without the matchers that match everything. */
const expressionsOf = (title: string): readonly string[] =>
  allQueries()
    .filter(({ panel }) => panel.title === title)
    .map(({ text }) =>
      interpolated(text, { range: "604800s", interval: "604800s" })
        .replaceAll(/\w+=~"\.\*"(?:, )?/g, "")
        .replaceAll("{}", ""),
    );

test.each(Object.entries(digestQueries("604800s")))("%s is what a dashboard asks", (name, query) => {
  expect(parsed(query).errors).toEqual([]);
  const expressions = expressionsOf(PANELS[name as keyof typeof PANELS]);
  expect(expressions.filter((expression) => expression.includes(query))).not.toEqual([]);
});

test("labels are those of the dashboards", () => {
  expect(LABELS).toEqual(
    Object.fromEntries(Object.keys(LABELS).map((key) => [key, LABEL[key as keyof typeof LABELS]])),
  );
});
