import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { note } from './report.ts';

const id = 'softbench.softbench';

describe('the extension in VS Code', () => {
  it('is there, and activates', async () => {
    const extension = vscode.extensions.getExtension(id);
    assert.ok(extension, `VS Code does not know ${id}`);
    const wasActive = extension.isActive;
    const started = performance.now();
    await extension.activate();
    const milliseconds = performance.now() - started;
    assert.equal(extension.isActive, true);
    note(wasActive ? 'activated before the test began' : `activation took ${milliseconds.toFixed(0)} ms`);
  });

  it('registers every command that its manifest contributes', async () => {
    const extension = vscode.extensions.getExtension(id);
    const contributed: { command: string }[] = extension?.packageJSON?.contributes?.commands ?? [];
    assert.ok(contributed.length > 0, 'the manifest contributes no command');
    const registered = new Set(await vscode.commands.getCommands(true));
    const missing = contributed.map(({ command }) => command).filter((command) => !registered.has(command));
    assert.deepEqual(missing, []);
  });
});
