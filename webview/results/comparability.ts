/** Whether the runs can be compared: what they differ in that their scores hang on, above everything else. */
import type { ComparisonWarning, ResultsView } from '../../src/shared/protocol.ts';
import { type Child, h, render } from '../dom.ts';
import { icon } from '../icons.ts';
import { visible } from '../text.ts';
import { columnName, columnsOf, type MarkedColumn } from './columns.ts';

const severities: Record<ComparisonWarning['severity'], { heading: string; role: 'alert' | 'note'; look: string }> = {
  incomparable: { heading: 'These runs are not comparable', role: 'alert', look: 'error' },
  care: { heading: 'Compare these runs with care', role: 'note', look: 'info' },
};

export class ComparabilitySection {
  readonly element = h('section', { 'aria-label': 'Whether the runs can be compared', hidden: true });

  update(view: ResultsView): void {
    const columns = columnsOf(view);
    this.element.hidden = view.warnings.length === 0;
    render(this.element, [view.warnings, columns.map(({ mark }) => mark)], () =>
      (['incomparable', 'care'] as const).map((severity) =>
        banner(
          severity,
          view.warnings.filter((warning) => warning.severity === severity),
          columns,
        ),
      ),
    );
  }
}

function banner(
  severity: ComparisonWarning['severity'],
  warnings: readonly ComparisonWarning[],
  columns: readonly MarkedColumn[],
): Child {
  if (warnings.length === 0) return null;
  const { heading, role, look } = severities[severity];
  return h(
    'div',
    { class: `banner ${look} comparability`, role },
    icon('warning'),
    h(
      'div',
      { class: 'grow' },
      h('p', {}, h('strong', {}, `${heading}: `), warnings.map(({ what }) => what.toLowerCase()).join(', '), '.'),
      h(
        'details',
        { 'data-key': `warnings-${severity}` },
        h('summary', {}, 'What differs'),
        h(
          'div',
          { class: 'scroll-x', tabindex: 0, role: 'region', 'aria-label': `${heading}, table` },
          h(
            'table',
            {},
            h(
              'thead',
              {},
              h(
                'tr',
                {},
                h('th', { scope: 'col' }, 'What'),
                ...columns.map(({ mark }) => h('th', { scope: 'col' }, columnName(mark))),
                h('th', { scope: 'col' }, 'What that means'),
              ),
            ),
            h(
              'tbody',
              {},
              ...warnings.map(({ what, sentence, values }) =>
                h(
                  'tr',
                  {},
                  h('th', { scope: 'row' }, what),
                  ...columns.map(({ mark }) =>
                    h('td', {}, visible(values.find(({ run }) => run === mark.run)?.value ?? '–')),
                  ),
                  h('td', { class: 'sentence' }, sentence),
                ),
              ),
            ),
          ),
        ),
      ),
    ),
  );
}
