export const largestPage: number;
export function pageSizes(): Promise<{ page: string; bytes: number; parts: { name: string; bytes: number }[] }[]>;
export function printSizes(log?: (line: string) => void): Promise<boolean>;
