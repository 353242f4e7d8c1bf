/** Descriptions of options that several commands have. */
export const NO_REFRESH = "show only what is stored, without importing what is new";
export const NO_TITLES = "show no titles, prompts or commands: do not read the agents' files for them";
