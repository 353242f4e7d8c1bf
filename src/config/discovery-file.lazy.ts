import * as z from "zod";

const Hook = z.looseObject({
  command: z.string().min(1),
  events: z.array(z.string()).default(["*"]),
  async: z.boolean().default(false),
});

const File = z.looseObject({ openhook: z.string().regex(/^\d+\.\d+$/), hooks: z.array(Hook) });

/** The content of a registration file, or one line about its first error. */
export function checkedDiscovery(value: unknown): z.infer<typeof File> | string {
  const found = File.safeParse(value);
  if (found.success) return found.data;
  const [issue] = found.error.issues;
  return `${issue?.path.join(".") || "the top level"}: ${issue?.message ?? "wrong"}`;
}

/** The file's JSON Schema. Other members are ignored, so that senders can have their own. */
export function discoveryJsonSchema() {
  return z.toJSONSchema(File, { io: "input" });
}
