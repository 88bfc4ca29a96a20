// Tables on a pipe, on a wide terminal and on narrow ones.
import { describe, expect, it } from '@jest/globals';
import { list, table } from '../src/output/table.ts';

const id = '01931f70-6a10-7b52-9c3e-2f4d8e6a0b01';
const rows = [
  ['CHECK', 'STATE', 'WHAT'],
  ['database orders', 'ok', 'answers after 3 ms'],
  ['disk', 'failed', 'less than 200 MB are free, and PostgreSQL stops when the disk is full'],
];

describe('a table', () => {
  it.each([undefined, 0, 200])('a table has one line for each row when the width is %p', (columns) => {
    expect(table(rows, {}, columns)).toBe(
      [
        'CHECK            STATE   WHAT',
        'database orders  ok      answers after 3 ms',
        'disk             failed  less than 200 MB are free, and PostgreSQL stops when the disk is full',
      ].join('\n'),
    );
  });

  it('a table escapes the control characters that a terminal obeys', () => {
    expect(table([['\u001b[2Jgone', '\u009b31mred\u009d0;title\u0007', 'two\nlines', 'naïve 🙂']])).toBe(
      '\\u001b[2Jgone  \\u009b31mred\\u009d0;title\\u0007  two\\u000alines  naïve 🙂',
    );
  });

  it('a table may have many rows', () => {
    expect(table(Array.from({ length: 300_000 }, () => ['two words'])).split('\n')).toHaveLength(300_000);
  });

  it('a table gets several lines in its last column when it is wider than the terminal', () => {
    expect(table(rows, {}, 60)).toBe(
      [
        'CHECK            STATE   WHAT',
        'database orders  ok      answers after 3 ms',
        'disk             failed  less than 200 MB are free, and',
        '                         PostgreSQL stops when the disk is',
        '                         full',
      ].join('\n'),
    );
  });

  it('a table becomes a list for each row when the last column is too narrow, without the empty cells', () => {
    const orders = [
      ['ORDER', 'STATUS', 'BY', 'ITEMS'],
      [id, 'delivered', 'kim@example.com', '2 × Light Glass Stapler 423, 1 × Heavy Steel Lamp 7, 4 × Cup'],
      [id, 'pending', '', '1 × Cup'],
    ];
    expect(table(orders, {}, 60)).toBe(
      [
        `ORDER   ${id}`,
        'STATUS  delivered',
        'BY      kim@example.com',
        'ITEMS   2 × Light Glass Stapler 423, 1 × Heavy Steel Lamp 7,',
        '        4 × Cup',
        '',
        `ORDER   ${id}`,
        'STATUS  pending',
        'ITEMS   1 × Cup',
      ].join('\n'),
    );
  });

  it('a table becomes a list for each row rather than breaking a word of the last column', () => {
    const holds = [
      ['PLACE OF THE TEXT', 'ORDER'],
      ['customer.address', id],
    ];
    expect(table(holds, {}, 54)).toBe(`PLACE OF THE TEXT  customer.address\nORDER              ${id}`);
  });

  it('a table shows its heading when it has no rows', () => {
    expect(table([['ORDER', 'STATUS', 'REASON']], {}, 10)).toBe('ORDER  STATUS  REASON');
  });
});

describe('a list', () => {
  it('a list continues long values below their beginning', () => {
    const values = [
      ['about', id],
      ['reason', 'the handler failed seven times because the table of the orders was locked'],
    ];
    expect(list(values, {}, 60)).toBe(
      [
        `about   ${id}`,
        'reason  the handler failed seven times because the table of',
        '        the orders was locked',
      ].join('\n'),
    );
    expect(list(values, {}, undefined).split('\n')).toHaveLength(2);
  });
});
