import * as z from "zod";
import type { ProcessKey } from "#store/session-processes.ts";
import { type Fields, fieldsOf } from "./mcp-answers.ts";
import type { Asking } from "./mcp-ask.ts";

/** A tool as a client sees it, and its answer. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodObject;
  /** @throws UserError for wrong input, and when the store cannot be read */
  answer(input: unknown, asking: Asking, client: ProcessKey | undefined): Promise<Fields>;
}

/** A short text. */
export const text = z.string().max(200).exactOptional();
export const limit = z.int().min(1).max(30).default(10);
export const range = { since: text.describe("7d, today, 2026-11-14"), until: text };
export const filters = { agent: text, repository: text };

/** How many rows of each kind are named. */
export const TOP = 5;

/**
 * The schema of a tool's input as the SDK wants it. Clients see it without limits and defaults, because every session of an agent pays for
 * these definitions; all of it is checked nevertheless.
 */
export function shownTo({ input }: Tool) {
  const standard = input["~standard"];
  const shown = (): Record<string, unknown> => {
    const { $schema: _, ...schema } = z.toJSONSchema(input, {
      io: "input",
      override: ({ jsonSchema }) => {
        for (const name of UNSEEN) delete jsonSchema[name];
      },
    });
    return schema;
  };
  return { "~standard": { ...standard, jsonSchema: { ...standard.jsonSchema, input: shown } } };
}

const UNSEEN = ["maxLength", "maxItems", "minimum", "maximum", "default"] as const;

/** The input of `answer` has the type of its schema. */
export function tool<T extends z.ZodObject>({
  input,
  answer,
  ...named
}: Omit<Tool, "input" | "answer"> & {
  readonly input: T;
  answer(given: z.infer<T>, asking: Asking, client: ProcessKey | undefined): Promise<Fields>;
}): Tool {
  return { ...named, input, answer: (given, asking, client) => answer(input.parse(given), asking, client) };
}

/** A repository's name and branch; addresses and commits are not needed. */
export function placeIn(repository: unknown): Fields {
  const { name, branch } = fieldsOf(repository);
  return { repository: name ?? null, branch: branch ?? null };
}
