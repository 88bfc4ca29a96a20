// Placeholders in recordings: which texts they stand for.
import { expect, it } from '@jest/globals';
import { differences, fillIn, type Values } from '../../src/testing/contracts/placeholders.ts';

it.each<[string, unknown, unknown, Record<string, string>]>([
  ['one text', 'pending by <id>', 'pending by 1', { id: '1' }],
  ['a text of several lines', '<text>', 'a\nb', { text: 'a\nb' }],
  ['the same text twice in a text', '<id> and <id>', '1 and 1', { id: '1' }],
  ['the same text in two members', { a: '<id>', b: ['<id>'] }, { a: '1', b: ['1'] }, { id: '1' }],
  ['a segment of a path', '/orders/<id>/trace', '/orders/1/trace', { id: '1' }],
  ['text beside characters of patterns', '(<id>.)', '(1.)', { id: '1' }],
])('a placeholder replaces %s', (_, recorded, actual, expected) => {
  const values: Values = new Map();
  expect([differences(recorded, actual, values, 'whole'), Object.fromEntries(values)]).toEqual([[], expected]);
  expect(fillIn(recorded, values)).toEqual(actual);
});

it.each<[string, unknown, unknown]>([
  ['two texts in one text', '<id> and <id>', '1 and 2'],
  ['two texts in two members', { a: '<id>', b: '<id>' }, { a: '1', b: '2' }],
  ['two segments of a path', '/orders/<id>', '/orders/1/trace'],
  ['a number', '<id>', 1],
  ['no text', '<id>', ''],
  ['another character', '<id>.', '1x'],
])('a placeholder does not replace %s', (_, recorded, actual) => {
  expect(differences(recorded, actual, new Map(), 'whole')).toHaveLength(1);
});
