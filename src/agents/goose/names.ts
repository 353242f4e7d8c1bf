import type { Editors } from "../shared/payload/tool-writes.ts";

/** The tools that change files. */
export const EDITORS: Editors = { write: "whole", edit: "part" };
