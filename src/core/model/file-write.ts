import * as z from "zod";

/**
 * One contiguous change of one file by a tool call, without its text. A call that changes several places of a file gives one for each,
 * so that ranges have no lines in them that were not written, and sums over them are the call's sums.
 */
export const FileWrite = z
  .object({
    /** As the agent names it: absolute, or relative to the session's folder. Stored ones are absolute if that folder is known. */
    path: z.string().min(1),
    /** Absent: unknown, for example whether a file was there before. */
    operation: z.enum(["create", "update", "delete"]).optional(),
    /** First and last written line in the new file, from 1. Absent if unknown, and where lines were only removed. */
    startLine: z.number().int().positive().optional(),
    endLine: z.number().int().positive().optional(),
    /** Lines. Absent: unknown. */
    added: z.number().int().nonnegative().optional(),
    removed: z.number().int().nonnegative().optional(),
  })
  .readonly();
export type FileWrite = z.infer<typeof FileWrite>;
