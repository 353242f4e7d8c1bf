import { parseArgs } from "node:util";

/** `DIRECTORY [--mb N] [--seed N]`, for a generator that is started from the command line. */
export function corpusArguments() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { mb: { type: "string", default: "300" }, seed: { type: "string", default: "7" } },
  });
  const [directory] = positionals;
  const [mb, seed] = [Number(values.mb), Number(values.seed)];
  if (directory === undefined) throw new Error("the directory to write the corpus to is missing");
  if (!(mb > 0)) throw new Error(`--mb must be a number above 0, not ${JSON.stringify(values.mb)}`);
  if (!Number.isInteger(seed)) throw new Error(`--seed must be an integer, not ${JSON.stringify(values.seed)}`);
  return { directory, bytes: mb * 1e6, seed };
}
