/**
 * Options for parsing with a schema that may see few values or many. zod compiles a function for each object schema with which it
 * parses. This costs 14 ms of a drain of a turn, and saves 2 % of a drain of thousands of events, so it begins after the
 * first values of the process.
 */
export const parseOptions = (): { readonly jitless: boolean } => ({ jitless: ++parsed <= FEW });

// --- internal ---

let parsed = 0;
const FEW = 500;
