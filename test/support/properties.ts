import fc from "fast-check";

/**
 * Random inputs come from the same seed in every run, so that a change fails only for what it changed. A weekly workflow
 * sets `OPENHOOK_TEST_SEED=random` and looks for new inputs; a failure prints the seed, which this variable takes too.
 */
const given = process.env["OPENHOOK_TEST_SEED"] ?? "20261129";
if (given !== "random") fc.configureGlobal({ seed: Number(given) });

export { default } from "fast-check";
