// Runs inside the extension host of a real VS Code: `run` is what `extensionTestsPath` asks for.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { runMocha } from '../report.ts';

export async function run(): Promise<void> {
  const files = readdirSync(__dirname)
    .filter((name) => name.endsWith('.vscode-test.cjs'))
    .sort()
    .map((name) => join(__dirname, name));
  const failures = await runMocha(files);
  if (failures > 0) throw new Error(`${failures} failed`);
}
