import * as z from "zod";

// What the schema in section 6.1 of the specification demands (Agent Trace 0.1.0, https://github.com/cursor/agent-trace, CC BY 4.0)
const line = z.number().int().min(1);
const contributor = z.object({
  type: z.enum(["human", "ai", "mixed", "unknown"]),
  model_id: z.string().max(250).optional(),
});
export const TraceRecord = z.object({
  version: z.string().regex(/^[0-9]+\.[0-9]+$/),
  id: z.uuid(),
  timestamp: z.iso.datetime(),
  vcs: z.object({ type: z.enum(["git", "jj", "hg", "svn"]), revision: z.string() }).optional(),
  tool: z.object({ name: z.string().optional(), version: z.string().optional() }).optional(),
  files: z.array(
    z.object({
      path: z.string(),
      conversations: z.array(
        z.object({
          url: z.url().optional(),
          contributor: contributor.optional(),
          ranges: z.array(
            z.object({
              start_line: line,
              end_line: line,
              content_hash: z.string().optional(),
              contributor: contributor.optional(),
            }),
          ),
          related: z.array(z.object({ type: z.string(), url: z.url() })).optional(),
        }),
      ),
    }),
  ),
  metadata: z.record(z.string(), z.unknown()).optional(),
});
