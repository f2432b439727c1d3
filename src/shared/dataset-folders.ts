/**
 * Folders in place of data sets of the Hugging Face Hub, as this process's user has set them. One place, because every part
 * that opens a benchmark must read the same rows; the worker gets it by the environment.
 */

/** By id, or by a pattern of ids with one `*`; folders are absolute. */
export type DatasetFolders = Readonly<Record<string, string>>;

/** The variable that maps ids to folders: `id=folder`, several with the system's path separator between, or JSON. */
export const foldersVariable = 'SOFTBENCH_DATASETS';

let chosen: DatasetFolders = {};

/** What goes before the mappings of the environment. */
export const datasetFolders = (): DatasetFolders => chosen;

export function setDatasetFolders(folders: DatasetFolders): void {
  chosen = { ...folders };
}
