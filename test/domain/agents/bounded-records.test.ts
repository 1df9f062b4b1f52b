/** Records for agents have a bounded size. */
import { expect, test } from 'vitest';
import {
  boundFields,
  boundText,
  takeFittingRecords,
} from '../../../src/domain/agents/agent-records.ts';

const createRecord = (id: string, text: string) => ({ id, fields: { text }, remainingFields: [] });

test('shortens a long text, and states its length', () => {
  expect(boundText('x'.repeat(2_000))).toBe('x'.repeat(2_000));
  expect(boundText('x'.repeat(2_001))).toBe(`${'x'.repeat(2_000)}… [truncated: 2001 characters]`);
});

test('never splits a character', () => {
  expect(boundText('😀'.repeat(3), 3).isWellFormed()).toBe(true);
});

test('shortens texts, lists and objects within values', () => {
  const members = Object.fromEntries(Array.from({ length: 201 }, (_, index) => [`m${index}`, 1]));
  const { fields, remainingFields } = boundFields([
    ['list', Array.from({ length: 250 }, (_, index) => index)],
    ['members', members],
    ['nested', { a: ['x'.repeat(3_000)] }],
    ['plain', { a: [1, null, true, 'x'] }],
  ]);
  expect(fields.list).toHaveLength(201);
  expect(fields.list).toContain('[truncated: 50 more items]');
  expect(fields.members).toMatchObject({ m199: 1, '[truncated]': '1 more members' });
  expect(fields.members).not.toHaveProperty('m200');
  expect(JSON.stringify(fields.nested)).toContain('… [truncated: 3000 characters]');
  expect(fields.plain).toEqual({ a: [1, null, true, 'x'] });
  expect(remainingFields).toEqual([]);
});

test('truncates values that are nested too deep', () => {
  const deep = JSON.parse(`${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`);
  expect(JSON.stringify(boundFields([['deep', deep]]).fields)).toContain(
    '[truncated: nested too deep]',
  );
});

test('omits fields that do not fit', () => {
  const large = Array.from({ length: 100 }, () => 'x'.repeat(900));
  const { fields, remainingFields } = boundFields([
    ['a', large],
    ['b', large],
    ['c', 1],
  ]);
  expect(Object.keys(fields)).toEqual(['a', 'c']);
  expect(remainingFields).toEqual(['b']);
});

test('takes the first records that fit together, and at least one', () => {
  const halfText = 'x'.repeat(45_000);
  const records = [
    createRecord('1', halfText),
    createRecord('2', halfText),
    createRecord('3', halfText),
  ];
  expect(takeFittingRecords(records).map(({ id }) => id)).toEqual(['1', '2']);
  expect(takeFittingRecords([createRecord('1', 'x'.repeat(200_000))])).toHaveLength(1);
  expect(takeFittingRecords([])).toEqual([]);
});
