import pkg from "../../package.json" with { type: "json" };

/** Of this program. */
export const VERSION: string = pkg.version;
