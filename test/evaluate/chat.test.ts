/** Which chat template a job applies: the choice of lm-evaluation-harness 0.4.13 (TemplateLM.chat_template), and what a run records. */
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { chatDeterminant, chatSettingsOf, dateNote } from '../../src/evaluate/chat.ts';
import { HumanError } from '../../src/shared/errors.ts';

const one = {
  name: 'one',
  chatTemplates: { templates: new Map([['default', '{{ bos_token }}']]), specialTokens: { bos_token: '<s>' } },
};
const several = {
  name: 'several',
  chatTemplates: {
    templates: new Map([
      ['default', 'a'],
      ['rag', 'b {{ strftime_now("%d") }}'],
    ]),
    specialTokens: {},
  },
};
const noDefault = {
  name: 'odd',
  chatTemplates: {
    templates: new Map([
      ['x', 'a'],
      ['y', 'b'],
    ]),
    specialTokens: {},
  },
};

describe('the template', () => {
  test('none where nothing is asked for', () => {
    expect(chatSettingsOf(undefined, {}, one)).toBeNull();
    expect(chatSettingsOf({ template: false }, { chatRequest: { template: true } }, one)).toBeNull();
  });

  test('the only one, its name or not', () => {
    for (const template of [true, 'default', 'anything'])
      expect(chatSettingsOf({ template }, {}, one)?.template).toEqual({
        name: 'default',
        source: '{{ bos_token }}',
        digest: createHash('sha256').update('{{ bos_token }}').digest('hex'),
        specialTokens: { bos_token: '<s>' },
      });
  });

  test('of several the default or the named one', () => {
    expect(chatSettingsOf({ template: true }, {}, several)?.template?.source).toBe('a');
    expect(chatSettingsOf({ template: 'rag' }, {}, several)?.template?.name).toBe('rag');
    expect(() => chatSettingsOf({ template: 'other' }, {}, several)).toThrow('no chat template "other"');
    expect(() => chatSettingsOf({ template: true }, {}, noDefault)).toThrow('none is its default');
    expect(chatSettingsOf({ template: 'y' }, {}, noDefault)?.template?.source).toBe('b');
  });

  test('a model without one', () => {
    expect(() => chatSettingsOf({ template: true }, {}, { name: 'base' })).toThrow(HumanError);
  });

  test('one that writes the date keeps the moment, which is no setting', () => {
    const chat = chatSettingsOf({ template: 'rag' }, {}, several);
    expect(dateNote(chat)).toContain(new Date().toISOString().slice(0, 4));
    if (!chat?.template) throw new Error('no template');
    const earlier = { ...chat, template: { ...chat.template, date: '2020-01-01T00:00:00.000Z' } };
    expect(chatDeterminant(earlier)).toEqual(chatDeterminant(chat));
    expect(chatDeterminant({ ...chat, systemInstruction: 'x' })).not.toEqual(chatDeterminant(chat));
  });
});

describe('system instruction and examples', () => {
  test('an instruction alone applies no template', () => {
    expect(chatSettingsOf({ systemInstruction: 'Be brief.' }, {}, one)).toEqual({
      template: null,
      systemInstruction: 'Be brief.',
      fewshotAsMultiturn: false,
    });
  });

  test('examples are turns with a template, unless asked otherwise', () => {
    expect(chatSettingsOf({ template: true }, {}, one)?.fewshotAsMultiturn).toBe(true);
    expect(chatSettingsOf({ template: true, fewshotAsMultiturn: false }, {}, one)?.fewshotAsMultiturn).toBe(false);
    expect(() => chatSettingsOf({ fewshotAsMultiturn: true }, {}, one)).toThrow('need a chat template');
  });

  test('what is asked for stands in for what the file says, key by key', () => {
    const file = { chatRequest: { template: true, systemInstruction: 'File.', fewshotAsMultiturn: false } };
    expect(chatSettingsOf({ systemInstruction: 'Asked.' }, file, one)).toMatchObject({
      template: { name: 'default' },
      systemInstruction: 'Asked.',
      fewshotAsMultiturn: false,
    });
  });
});
