import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const { contributes } = manifest;
const text = JSON.stringify(contributes);
const commands: { command: string; title: string; category: string }[] = contributes.commands;
const names = new Set(commands.map(({ command }) => command));

describe('the manifest', () => {
  it('names commands once, all of them under one prefix and category', () => {
    expect(names.size).toBe(commands.length);
    for (const { command, category, title } of commands) {
      expect(command).toMatch(/^softbench\.[a-zA-Z]+$/);
      expect(category).toBe('Softbench');
      expect(title).not.toBe('');
    }
  });

  it('refers only to commands that there are', () => {
    const used = [...text.matchAll(/(?:"command":"|command:)(softbench\.[\w.]+)/g)].map((match) => match[1] ?? '');
    expect(used.filter((name) => !names.has(name))).toEqual([]);
  });

  it('refers only to pictures that there are', () => {
    const used = [...text.matchAll(/media\/[\w./-]+/g)].map((match) => match[0]);
    expect(used.length).toBeGreaterThan(4);
    expect(used.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });

  it('describes every setting, with a default of its own type', () => {
    for (const [name, setting] of Object.entries<Record<string, unknown>>(contributes.configuration.properties)) {
      expect(setting.markdownDescription, name).toMatch(/\.$/);
      const types = [setting.type].flat();
      const value = setting.default;
      const type =
        value === null
          ? 'null'
          : Array.isArray(value)
            ? 'array'
            : typeof value === 'number'
              ? 'integer'
              : (typeof value as string);
      expect(types, name).toContain(type);
    }
  });

  it('lets an untrusted workspace set nothing that decides what is read or run', () => {
    const { restrictedConfigurations } = manifest.capabilities.untrustedWorkspaces;
    expect(restrictedConfigurations).toEqual(
      expect.arrayContaining([
        'softbench.store',
        'softbench.modelFolders',
        'softbench.datasetFolders',
        'softbench.executionProvider',
      ]),
    );
  });

  it('has a picture with words for each step of the walkthrough', () => {
    for (const step of contributes.walkthroughs[0].steps) {
      expect(step.media.altText.length, step.id).toBeGreaterThan(20);
      const picture = readFileSync(join(root, step.media.svg), 'utf8');
      // The editor shows it inline and refuses style sheets in it.
      expect(picture, step.id).not.toContain('<style');
      expect(picture, step.id).toContain('var(--vscode-');
    }
  });
});
