import fc from "fast-check";

// Random inputs come from the same seed in every run, so that a change fails only for what it changed. A weekly workflow sets
// `OPENHOOK_TEST_SEED=random` to try new inputs. A failure prints its seed, which this variable also accepts.
const seed = process.env["OPENHOOK_TEST_SEED"] ?? "20261129";
if (seed !== "random") {
  if (!/^-?\d+$/.test(seed))
    throw new Error(`OPENHOOK_TEST_SEED must be "random" or a whole number, not ${JSON.stringify(seed)}`);
  fc.configureGlobal({ seed: Number(seed) });
}

export { default } from "fast-check";
