export const MODULE_PATH: string;
export function moduleText(): Promise<string>;
