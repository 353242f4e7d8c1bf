import { testAgents } from "./agents.ts";
import { PROGRAMS } from "./programs.ts";

// Half of the programs, which run beside those of agents-2.live.ts
testAgents(PROGRAMS.filter((_, index) => index % 2 === 0));
