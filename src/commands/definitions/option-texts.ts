/** Descriptions of options that several commands have. */
export const NO_REFRESH = "show only what is stored, without importing what is new";
export const NO_TITLES = "no titles: do not read first prompt lines from the agents' files";
