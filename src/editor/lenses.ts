/** What stands above `task:` of a benchmark file, decided from plain data. The provider only places it. */
import type { RunSummary } from '../shared/results.ts';
import { resultLines, resultWords } from './words.ts';

/** A job on this benchmark, as far as a line of text can show it. */
export interface JobLine {
  state: 'queued' | 'running' | 'stopping';
  /** `soft-prompt: tuning, step 34 of 80, 20 s left` */
  text: string;
}

export interface LensState {
  /** The model that a click would run; null where none was chosen. */
  model: { name: string; folder: string } | null;
  job: JobLine | null;
  /** Newest finished run of each mode for this benchmark and model. */
  results: readonly RunSummary[];
  /** A job that was stopped or failed and can go on: what is there of it. */
  resumable: { group: string; text: string } | null;
  /** Finished runs that the file would score otherwise by now, or that were never scored. */
  rescorable?: { runs: string[]; modes: string[]; neverScored: boolean } | null;
}

export interface Lens {
  title: string;
  tooltip: string;
  command: string;
  /** Arguments after the file's URI. */
  more?: unknown[];
}

/** What stands above `group:` of a group file. */
export function groupLenses({ model }: LensState): Lens[] {
  const on = model ? ` on ${model.name}` : '';
  return [
    {
      title: '$(play) Evaluate group',
      tooltip: `Evaluate every benchmark of the group${on}, one after the other`,
      command: 'softbench.evaluateGroup',
    },
    {
      title: '$(table) Group scores',
      tooltip: 'Aggregated scores of the group, from the newest finished runs of its benchmarks',
      command: 'softbench.groupScores',
    },
    {
      title: '$(list-tree) Benchmarks…',
      tooltip: 'Open one of the benchmarks of the group',
      command: 'softbench.openGroupBenchmark',
    },
    chooseModelLens(model),
  ];
}

const chooseModelLens = (model: LensState['model']): Lens => ({
  title: model ? `$(chip) ${model.name}` : '$(chip) Choose model…',
  tooltip: model ? `${model.folder}\nClick to choose another model` : 'Choose the model to run this benchmark on',
  command: 'softbench.chooseModel',
});

export function lensesOf(state: LensState): Lens[] {
  const { model, job, results, resumable, rescorable } = state;
  const on = model ? ` on ${model.name}` : '';
  const lenses: Lens[] = [];
  if (job) {
    const icon = { queued: '$(clock)', running: '$(sync~spin)', stopping: '$(sync~spin)' }[job.state];
    lenses.push({
      title: `${icon} ${job.text}`,
      tooltip: 'Show the results as they come in',
      command: 'softbench.openResults',
    });
    if (job.state !== 'stopping')
      lenses.push({
        title: '■ Stop',
        tooltip: 'Stop after the step or item under way. Finished items are kept; it can be resumed.',
        command: 'softbench.stop',
      });
  } else {
    lenses.push(
      {
        title: '$(play) Evaluate',
        tooltip: `Evaluate this benchmark${on} in the prompt modes you choose`,
        command: 'softbench.evaluate',
      },
      {
        title: '$(zap) Tune soft prompt',
        tooltip: `Learn a soft prompt for this benchmark${on}, then compare it with the other prompt modes. Finished runs of those are used again.`,
        command: 'softbench.tune',
      },
      {
        title: '$(git-compare) Compare prompt modes',
        tooltip: `Run every prompt mode of this benchmark${on} afresh`,
        command: 'softbench.compare',
      },
    );
    if (resumable)
      lenses.push({
        title: '↻ Resume',
        tooltip: `${resumable.text} Go on where it stopped.`,
        command: 'softbench.resume',
        more: [resumable.group],
      });
    if (rescorable) {
      const { runs, modes, neverScored } = rescorable;
      lenses.push({
        title: neverScored ? '$(checklist) Score outputs' : '$(checklist) Re-score',
        tooltip: `${neverScored ? 'Outputs were kept without scores' : 'The scoring has changed since the last run'} (${modes.join(', ')}). Score what the model wrote by this file, without running it.`,
        command: 'softbench.rescore',
        more: [runs],
      });
    }
  }
  lenses.push(
    {
      title: '$(eye) Preview prompts',
      tooltip: 'See the exact prompt of any item in every prompt mode',
      command: 'softbench.previewPrompts',
    },
    chooseModelLens(model),
  );
  if (results.length > 0)
    lenses.push({
      title: `$(graph) ${resultWords(results)}`,
      tooltip: [...resultLines(results), 'Click for the results'].join('\n'),
      command: 'softbench.openResults',
    });
  return lenses;
}
