/** What is known of the execution providers, as a document. Plain TypeScript. */
import type { ProviderStatus } from '../shared/protocol.ts';

/** Markdown: one section a provider. */
export function providersText(providers: readonly ProviderStatus[], libraries: readonly string[]): string {
  return [
    '# Execution providers',
    '',
    'Each was tried: a session was opened with it, in a process of its own.',
    '',
    ...providers.flatMap(({ name, title, runs, automatic, reason, todo }) => [
      `## ${title}`,
      '',
      runs
        ? `Runs here. ${automatic ? '`auto` takes it.' : `Only when asked for by name: \`"softbench.executionProvider": "${name}"\`.`}`
        : `Does not run here: ${reason}. ${todo ?? ''}`.trimEnd(),
      '',
    ]),
    '## Installed libraries',
    '',
    ...libraries.map((line) => `- ${line}`),
    '',
  ].join('\n');
}
