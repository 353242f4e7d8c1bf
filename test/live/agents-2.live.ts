import { allAgents } from "#agents/registry.ts";
import { testAgents } from "./agents.ts";
import { PROGRAMS } from "./programs.ts";

const withProgram = PROGRAMS.map(({ source }) => source);
const others = (await allAgents()).map(({ source }) => source).filter((source) => !withProgram.includes(source));
testAgents(
  PROGRAMS.filter((_, index) => index % 2 === 1),
  others,
);
