import * as z from "zod";
import { ConfigFile } from "./schema.ts";

/** JSON Schema (draft 2020-12) of the user's settings file, for editors and tools that write it. */
export function configJsonSchema(): Readonly<Record<string, unknown>> {
  const schema = z.toJSONSchema(ConfigFile, { io: "input" });
  return { $schema: schema.$schema, title: "openhook-otel settings", ...schema };
}
