/** `%` formatting in templates: values as Jinja2 3.1 renders them on Python 3.11. */
import { describe, expect, test } from 'vitest';
import { Template } from '../../src/benchmark/template.ts';

describe('formats', () => {
  test.each([
    [`{{'%.2f'|format(1.0)}}`, '1.00'],
    [
      `{{'%5.1f|%-6s|%04d|%x|%e|%g|%+d|%r'|format(2.25,'ab',7,255,12345.678,0.0001,3,'q')}}`,
      "  2.2|ab    |0007|ff|1.234568e+04|0.0001|+3|'q'",
    ],
    [`{{'%(a)s-%(b)03d'|format(a='x',b=5)}}`, 'x-005'],
    [`{{'%d%%'|format(5.9)}}`, '5%'],
    [`{{'%s %s'|format(1.0,none)}}`, '1.0 None'],
    [
      `{{'%+.1f|% d|%#x|%X|%o|%c|%G|%E|%10.3e'%(1.25,3,255,255,8,'z',0.0000000001,0.5,12345.6)}}`,
      '+1.2| 3|0xff|FF|10|z|1E-10|5.000000E-01| 1.235e+04',
    ],
    [`{{'%.3s'|format('abcdef')}}`, 'abc'],
    [`{{'%5s|'%'a'}}`, '    a|'],
    [`{{'%s'%[1]}}`, '[1]'],
    [
      `{{'%05.1f|%-8.2f|%g|%g|%.3g' % (-2.75, 1.005, 1000000.0, 100000.0, 1234.0)}}`,
      '-02.8|1.00    |1e+06|100000|1.23e+03',
    ],
    [`{{0.125|round(2)}} {{2.675|round(2)}} {{(-0.375)|round(2)}} {{2.5|round}}`, '0.12 2.67 -0.38 2.0'],
    [`{{'{:,.2f}'.format(1234567.125)}} {{'{:.1f}'.format(0.25)}}`, '1,234,567.12 0.2'],
    [
      `{{'{:>5}|{:<4}|{:^6}|{:03d}|{:,}|{:*^7}|{!r:>5}'.format('a','b','c',7,12345,'x','y')}}`,
      "    a|b   |  c   |007|12,345|***x***|  'y'",
    ],
    [
      `{{'{0:+.1e}|{1:x}|{1:#X}|{2:.1%}|{3:06.2f}|{4:5}|{4}|{5:.3}|{6:=+6d}|{7:s}'.format(12345.0,255,0.125,-1.5,2.0,3.14159,42,'t')}}`,
      '+1.2e+04|ff|0XFF|12.5%|-01.50|  2.0|2.0|3.14|+   42|t',
    ],
  ])('%s', (template, text) => {
    expect(new Template(template).render({})).toBe(text);
  });

  test('a value that is not given is an error', () => {
    expect(() => new Template(`{{'%s %s'|format(1)}}`).render({})).toThrow('not enough arguments');
    expect(() => new Template(`{{'%d'|format('x')}}`).render({})).toThrow('a number is required');
  });
});
