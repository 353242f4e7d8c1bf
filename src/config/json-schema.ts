import * as z from "zod";
import { ConfigFile, MachineFile } from "./schema.ts";

/** JSON Schema (draft 2020-12) of the user's settings file, for editors and tools that write it. */
export function configJsonSchema(): Readonly<Record<string, unknown>> {
  const schema = z.toJSONSchema(ConfigFile, { io: "input" });
  return { $schema: schema.$schema, title: "openhook-otel settings", ...schema };
}

/** JSON Schema of the administrator's file: the user's settings, and which of them are locked. */
export function machineJsonSchema(): Readonly<Record<string, unknown>> {
  const schema = z.toJSONSchema(MachineFile, { io: "input" });
  return { $schema: schema.$schema, title: "openhook-otel settings for all users of a machine", ...schema };
}
