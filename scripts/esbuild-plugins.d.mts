import type { Plugin } from "esbuild";

export const computed: Plugin;
